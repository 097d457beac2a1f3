"""The curator for AI agents, over the Model Context Protocol.

Reading order:

* requirement — refuses to load without the package mcp
* teaching — what an agent is told: explain before you pay, say why, read intervals
* desk — one analyst's side of a curator, at hand or behind a server
* tools — what an agent may call
* run — `curador mcp`: the tools on standard input and output
"""
