"""`yao-test mcp`: a server of the Model Context Protocol, through which coding agents run and understand tests."""
