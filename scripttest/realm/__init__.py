"""What runs inside a worker process: the JavaScript engine, one realm at a time, and limits on time and memory."""
