"""`curador mcp`: the tools on standard input and output.

Nothing but the protocol is written to standard output: while it runs, whatever else is printed goes to standard error.
"""

from __future__ import annotations

import logging
from typing import Any

import curador.server.agents.requirement  # noqa: F401  # isort: skip

from anyio import CapacityLimiter, run
from anyio.to_thread import run_sync
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from curador import Curator, __version__
from curador.curator.stoppable import ready_to_stop
from curador.server.agents.desk import Desk
from curador.server.agents.teaching import INSTRUCTIONS, SQL, SQL_TITLE, sql_page
from curador.server.agents.tools import TOOLS, AgentTool, ToolAnswer, called

LOG = logging.getLogger("curador.agents")
MARKDOWN = "text/markdown"
SQL_RESOURCE = Resource(name="sql", uri=SQL, title="SQL", description=SQL_TITLE, mime_type=MARKDOWN)
AT_ONCE = 4
"""Calls that run at a time, of those that pay and of the others."""


def agent_server(desk: Desk) -> Server[Any]:
    """The protocol's server of one analyst's desk."""
    free, paying = CapacityLimiter(AT_ONCE), CapacityLimiter(AT_ONCE)

    async def listed(context: ServerRequestContext[Any], asked: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_described(tool) for tool in TOOLS.values()])

    async def call(context: ServerRequestContext[Any], asked: CallToolRequestParams) -> CallToolResult:
        def work() -> ToolAnswer:
            return called(desk, asked.name, asked.arguments or {}, lambda kind: LOG.error("a tool failed: %s", kind))

        tool = TOOLS.get(asked.name)
        if tool is not None and tool.watches:
            await desk.clock.leave()
        if tool is None or not tool.pays:  # never in a thread of what pays: when that one ends would be seen
            found = await run_sync(work, limiter=free)
        else:
            async with desk.clock.turn(paying):  # what was begun is done to its end, whoever stops waiting
                found = await run_sync(work, limiter=CapacityLimiter(1))
        text = TextContent(type="text", text=found.text)
        return CallToolResult(content=[text], structured_content=dict(found.values), is_error=found.failed)

    async def resources(
        context: ServerRequestContext[Any], asked: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return ListResourcesResult(resources=[SQL_RESOURCE])

    async def read(context: ServerRequestContext[Any], asked: ReadResourceRequestParams) -> ReadResourceResult:
        if str(asked.uri) != SQL:
            raise MCPError(INVALID_PARAMS, f"There is no such resource. Read {SQL}.")
        return ReadResourceResult(contents=[TextResourceContents(uri=SQL, mime_type=MARKDOWN, text=sql_page())])

    return Server(
        "curador",
        version=__version__,
        title="Curador",
        instructions=INSTRUCTIONS.format(analyst=desk.analyst),
        on_list_tools=listed,
        on_call_tool=call,
        on_list_resources=resources,
        on_read_resource=read,
    )


def _described(tool: AgentTool) -> Tool:
    hints = ToolAnnotations(
        read_only_hint=not tool.pays, destructive_hint=tool.pays, idempotent_hint=True, open_world_hint=False
    )
    schema = tool.body.model_json_schema()
    return Tool(name=tool.name, description=tool.teaches, input_schema=schema, annotations=hints)


def serve_agent(desk: Desk) -> None:
    """Speak the protocol on standard input and output until the input ends."""
    if isinstance(desk.curator, Curator):
        ready_to_stop()

    async def main() -> None:
        server = agent_server(desk)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    run(main)
