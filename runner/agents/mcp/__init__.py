"""MCP servers of an application: tools, resources and prompts for models and scripts.

| module | job |
| --- | --- |
| `base` | what a server is, and its errors |
| `servers` | from an id to a server: the `*.mcp.yao` files |
| `process` | servers whose tools are script functions or other processes |
| `mapping` | the files that describe such tools; what a call becomes |
| `client` | servers that are programs and services of their own |
| `remote` | the connections to them over stdio, SSE and streamable HTTP, through the clients of the MCP SDK |
| `guard` | runs the process of a server over stdio, and leaves none behind |
| `http` | their requests: whatever fails ends as an error of the call |
| `toolbox` | the tools that an agent offers to its model, and the calls that the model makes |
| `answers` | the processes `mcp.*` behind `ctx.mcp` and `new MCP(...)` |

The format of the files is in `docs/mcp.md`.
"""
