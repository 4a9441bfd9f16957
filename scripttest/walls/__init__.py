"""The walls of the system around workers and the compiler: which calls, which files, and how to put them up."""
