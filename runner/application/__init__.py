"""What an application has on the disk: its root, agents and test modules, the formats it is written in, its `.env`, and the
context of a run."""
