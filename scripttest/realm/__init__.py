"""What runs inside a worker process: the engine, one realm at a time, and the limits around both."""
