"""`yao-test view`: the runs of a store as a page on this machine, live while a run goes on."""
