"""The protocol's own client beside the real command, over standard input and output: a study at hand, and a server."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import CapacityLimiter
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent, TextResourceContents

from curador import Curator, Plan
from curador.server.agents.desk import Desk
from curador.server.agents.run import AT_ONCE, agent_server
from curador.server.gate.clock import TickClock
from curador.server.gate.settings import Settings
from tests.server.served import JOINED, SQL, Served, serving, write_study

SQL_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "sql.md"
COMMAND = Path(sys.executable).with_name("curador")
PRICE = {"sql": SQL, "epsilon": "0.1"}
WHY = "how many women and men there are, for the yearly report"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_study(tmp_path_factory.mktemp("study"))) as found:
        yield found


def speak(arguments: list[str], conversation: Callable[[Client], Awaitable[None]], noise: Path, **more: str) -> None:
    """Start the command, let the client speak to it, and end it; what it says beside goes to a file."""

    async def main() -> None:
        started = StdioServerParameters(command=str(COMMAND), args=["mcp", *arguments], env={**os.environ, **more})
        with noise.open("w") as errors:
            async with Client(stdio_client(started, errlog=errors)) as client:
                await conversation(client)

    anyio.run(main)


def text(found: CallToolResult) -> str:
    (part,) = found.content
    assert isinstance(part, TextContent)
    return part.text


async def converse(client: Client) -> None:
    """All that an agent does, from the first look to the last answer."""
    assert "explain before every ask" in (client.instructions or "")
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"list_tables", "explain", "ask", "how_many", "budget", "history", "show_release"}
    assert "because" in tools["ask"].input_schema["required"]
    assert "Call explain first" in (tools["ask"].description or "")
    assert "interval" in (tools["ask"].description or "")
    assert [name for name, tool in tools.items() if tool.annotations and not tool.annotations.read_only_hint] == ["ask"]

    (page,) = (await client.list_resources()).resources
    assert "SQL" in (page.description or "")
    (content,) = (await client.read_resource(str(page.uri))).contents
    assert isinstance(content, TextResourceContents)
    assert content.text == SQL_PAGE.read_text(encoding="utf-8")
    with pytest.raises(MCPError, match="no such resource"):
        await client.read_resource("curador://rows")

    seen = await client.call_tool("list_tables", {})
    assert values(seen)["tables"]["people"]["columns"]["age"]["bounds"] == ["0", "100"]
    assert "people" in text(seen)
    explained = await client.call_tool("explain", PRICE)
    assert not explained.is_error
    assert values(explained)["fits"] == 10
    assert "epsilon 0.1" in text(explained)
    assert values(await client.call_tool("how_many", {**PRICE, "epsilon": "0.5"}))["fits"] == 2
    assert values(await client.call_tool("budget", {}))["spent"]["epsilon"] == 0

    joined = await client.call_tool("explain", {"sql": JOINED, "epsilon": "0.1"})
    assert not joined.is_error, text(joined)
    assert values(joined)["keys"] == 2

    bought = await client.call_tool("ask", {**PRICE, "because": WHY})
    assert not bought.is_error, text(bought)
    found = values(bought)
    assert found["columns"]["sex"] == ["F", "M"]
    assert len(found["intervals"]["n"]) == 2
    assert found["remaining"]["bea"]["epsilon"] == 0.9
    again = values(await client.call_tool("ask", {**PRICE, "because": WHY}))
    assert (again["columns"], again["repeated"]) == (found["columns"], True)
    (kept,) = values(await client.call_tool("history", {}))["charges"]
    assert (kept["because"], kept["receiver"], kept["id"]) == (WHY, "bea", found["charge"])
    shown = values(await client.call_tool("show_release", {"charge": found["charge"]}))
    assert shown["columns"] == found["columns"]

    for arguments, code in (
        (PRICE, "malformed"),
        ({**PRICE, "because": ""}, "malformed"),
        ({**PRICE, "because": WHY, "analyst": "ana"}, "malformed"),
        ({**PRICE, "because": WHY, "override": True}, "malformed"),
        ({**PRICE, "because": WHY, "epsilon": "5"}, "budget-exceeded"),
        ({**PRICE, "because": WHY, "sql": "SELECT SUM(nothing) FROM people"}, None),
    ):
        refusal = await client.call_tool("ask", arguments)
        said = values(refusal)
        assert refusal.is_error
        assert {"what", "fix", "cost", "code", "facts", "kind"} == set(said["error"])
        assert said["error"]["code"] == code or code is None
        assert said["remaining"]["bea"]["epsilon"] == 0.9
        assert "To do: " in text(refusal)
        assert "Cost: nothing" in text(refusal)
    assert (await client.call_tool("show_release", {"charge": "999"})).is_error
    assert (await client.call_tool("drop_table", {})).is_error


def values(found: CallToolResult) -> dict[str, Any]:
    assert found.structured_content is not None
    return dict(found.structured_content)


def seen_by_the_curator(curator: Curator) -> None:
    charges = [charge for charge in curator.history() if charge.receiver == "bea"]
    assert [charge.note["because"] for charge in charges] == [WHY]


def test_an_agent_asks_a_study_at_hand(tmp_path: Path) -> None:
    study = write_study(tmp_path)
    speak([str(study), "--analyst", "bea"], converse, tmp_path / "errors")
    assert (tmp_path / "errors").read_text() == ""
    with closing(Curator(study)) as curator:
        seen_by_the_curator(curator)


def test_an_agent_asks_through_a_server(served: Served, tmp_path: Path) -> None:
    token = {"CURADOR_TOKEN": served.tokens["bea"]}
    speak(["--at", served.url, "--analyst", "bea"], converse, tmp_path / "errors", **token)
    assert (tmp_path / "errors").read_text() == ""
    seen_by_the_curator(served.curator)


def test_what_is_free_never_waits_for_what_is_paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a budget would come, undelayed, when a question was answered."""
    ends, run = threading.Event(), Plan.run

    def slowly(plan: Plan, *more: Any) -> bytes:
        assert ends.wait(60)
        return run(plan, *more)

    monkeypatch.setattr(Plan, "run", slowly)

    async def main(desk: Desk) -> None:
        async with Client(agent_server(desk)) as client:
            try:
                async with anyio.create_task_group() as tasks:
                    for number in range(AT_ONCE + 1):
                        asked = {**PRICE, "epsilon": f"0.0{number + 1}", "because": WHY}
                        tasks.start_soon(client.call_tool, "ask", asked)
                    with anyio.fail_after(30):
                        while values(await client.call_tool("budget", {}))["spent"]["epsilon"] < 0.099:
                            await anyio.sleep(0.01)
                    ends.set()
            finally:
                ends.set()
            assert values(await client.call_tool("budget", {}))["spent"]["epsilon"] == pytest.approx(0.15)

    with closing(Curator(write_study(tmp_path))) as curator:
        anyio.run(main, Desk(curator, "bea", Settings(tick=0.01)))


def test_who_waits_for_a_place_to_pay_begins_at_a_tick() -> None:
    """A place is given back at the tick at which its answer leaves, and not when it is ready."""
    order: list[str] = []

    async def ticked(seconds: float) -> None:
        order.append("tick")
        times.append(times[-1] + seconds)

    times = [0.5]
    clock = TickClock(1.0, now=lambda: times[-1], pause=ticked)

    async def pay(name: str, places: CapacityLimiter, end: anyio.Event | None = None) -> None:
        async with clock.turn(places):
            order.append(name)
            if end is not None:
                await end.wait()

    async def main() -> None:
        places, end = CapacityLimiter(1), anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pay, "first", places, end)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(pay, "second", places)
            await anyio.wait_all_tasks_blocked()
            end.set()
        assert places.borrowed_tokens == 0

    anyio.run(main)
    assert order == ["first", "tick", "second", "tick"]
