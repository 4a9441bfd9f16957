"""What an application has on the disk: its root, agents, test modules and `.env`, the formats it is written in, and the
context of a run."""
