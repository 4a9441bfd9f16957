"""From the command line to what will run: inputs, filters, shards, cases, references, and what an earlier run left."""
