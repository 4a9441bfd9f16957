"""MCP servers of an application: tools, resources and prompts for models and scripts.

| module | purpose |
| --- | --- |
| `base` | the interface of a server, and its errors |
| `servers` | finds the server of an id, in the `*.mcp.yao` files; the processes `mcp.*` of scripts |
| `process` | servers whose tools are functions of scripts, or other processes, and the files that describe them |
| `client` | servers that are separate programs or services, over stdio, SSE and streamable HTTP |
| `remote` | connections to these: sessions over the streams of the MCP SDK |
| `guard` | runs the process of a server over stdio, and leaves no process behind |
| `http` | their requests; a failed one becomes an error of the call |
| `toolbox` | the tools that an agent offers to its model, and the calls that the model makes |

`docs/mcp.md` has the format of the files."""
