"""`yao-test view`: the runs of a store as a page on this machine, which is updated during a run."""
