"""What an agent may call: each tool a body, a text that teaches, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import Field, ValidationError

from curador.curator.study.tables import keys_in_sql
from curador.errors import CuradorError
from curador.server.agents import teaching
from curador.server.agents.desk import Desk
from curador.server.bodies import Body, Name, PriceBody
from curador.server.gate.cpu import bounded
from curador.server.gate.refusals import code_of, malformed, plain, refused, unforeseen
from curador.server.shown import balance, charge
from curador.show.describe import KEYS_DESCRIBED


@dataclass(frozen=True)
class ToolAnswer:
    """What a tool says: a text for the agent to read, and the same as values."""

    text: str
    values: Mapping[str, Any]
    failed: bool = False


Sql = Annotated[
    str,
    Field(
        min_length=1,
        max_length=20_000,
        description="One SELECT, such as SELECT sex, COUNT(*) AS n FROM people GROUP BY sex.",
    ),
]


class NothingBody(Body):
    """No arguments."""


class TablesBody(Body):
    """No arguments, or a column whose keys are wanted."""

    table: Annotated[Name | None, Field(description="With column: only the keys of that column.")] = None
    column: Annotated[Name | None, Field(description="With table: the column whose keys are listed.")] = None
    start: Annotated[int, Field(ge=0, description="With column: how many keys to pass over.")] = 0


class AgentQuestionBody(PriceBody):
    """A question in SQL, and its price: epsilon, or rho, or accuracy."""

    sql: Sql


class AgentAskBody(AgentQuestionBody):
    """A question to pay for, and why."""

    because: Annotated[
        str,
        Field(
            min_length=3,
            max_length=2000,
            description="Required: what the number is for, in one sentence. The curator reads it.",
        ),
    ]
    key: Annotated[
        Name | None,
        Field(description="A name of your own for this purchase. Send the same one to try again: it is bought once."),
    ] = None
    anyway: Annotated[
        bool,
        Field(description="Buys what was refused because it compares with values that no declaration allows."),
    ] = False


class LastBody(Body):
    """How much of the history."""

    last: Annotated[int, Field(ge=1, le=200, description="How many of the newest charges.")] = 20


class ChargeBody(Body):
    """Which charge."""

    charge: Annotated[str, Field(max_length=20, pattern="^[0-9]+$", description="The id of one of your charges.")]


KEYS_SHOWN = 200
"""Keys of one column that the description of all tables lists."""

KEYS_AT_ONCE = 1000
"""Keys that one call for a column lists."""


def _tables(desk: Desk, body: TablesBody) -> ToolAnswer:
    if body.table is not None or body.column is not None:
        return _keys(desk, body)
    described = desk.curator.describe()
    tables = str(type(described)(described.tables, (), desk.language)).rstrip()
    keys = [
        _listing(name, column, written, 0, KEYS_SHOWN)
        for name, table in desk.curator.tables.items()
        for column, written in keys_in_sql(table).items()
        if len(written) > KEYS_DESCRIBED
    ]
    text = "\n\n".join([tables, *keys, str(desk.balance())])
    return ToolAnswer(text, {"tables": desk.declarations(), "remaining": _left(desk)})


def _keys(desk: Desk, body: TablesBody) -> ToolAnswer:
    """Some of the keys of one column."""
    if body.table is None or body.column is None:
        raise refused("Keys are those of a column of a table.", "Give table and column, or neither.", "malformed")
    table = desk.curator.tables.get(body.table)
    if table is None:
        raise refused("There is no such table.", f"The tables are {', '.join(desk.curator.tables)}.", "not-found")
    columns = keys_in_sql(table)
    if body.column not in columns:
        fix = f"Columns with keys are {', '.join(columns)}." if columns else "No column of this table declares keys."
        raise refused("This column declares no keys.", fix, "no-keys")
    written = columns[body.column]
    place = {"table": body.table, "column": body.column, "start": body.start, "of": len(written)}
    shown = {**place, "keys": written[body.start : body.start + KEYS_AT_ONCE]}
    return ToolAnswer(_listing(body.table, body.column, written, body.start, KEYS_AT_ONCE), shown)


def _listing(table: str, column: str, keys: Sequence[str], start: int, most: int) -> str:
    """Keys as they are written in SQL, and how to get those that come after them."""
    shown, end = ", ".join(keys[start : start + most]) or "none", min(start + most, len(keys))
    if start == 0 and end == len(keys):
        return f"The {len(keys):,} keys of {table}.{column}: {shown}."
    more = "" if end == len(keys) else f" For more: list_tables with table {table}, column {column}, start {end}."
    return f"Keys {start + 1:,} to {end:,} of the {len(keys):,} of {table}.{column}: {shown}.{more}"


def _explain(desk: Desk, body: AgentQuestionBody) -> ToolAnswer:
    found, fits = desk.explain(body.sql, body.price()), desk.fits(body.sql, body.price())
    text = f"{found}\n\nFits: {_times(fits)}.\nNothing was spent. {desk.balance()}"
    return ToolAnswer(text, {**found.to_dict(), "fits": fits, "remaining": _left(desk)})


def _fits(desk: Desk, body: AgentQuestionBody) -> ToolAnswer:
    fits = desk.fits(body.sql, body.price())
    return ToolAnswer(f"Fits: {_times(fits)}. {desk.balance()}", {"fits": fits, "remaining": _left(desk)})


def _ask(desk: Desk, body: AgentAskBody) -> ToolAnswer:
    found = desk.ask(body.sql, body.price(), body.because, body.key, anyway=body.anyway)
    paid = "It was bought before: nothing was spent." if found.repeated else f"Charge {found.charge}."
    values = {**found.to_dict(), "repeated": found.repeated, "remaining": _left(desk)}
    return ToolAnswer(f"{found}\n\n{paid} {desk.balance()}", values)


def _budget(desk: Desk, body: NothingBody) -> ToolAnswer:
    own = desk.balance()
    return ToolAnswer(str(own), balance(own))


def _history(desk: Desk, body: LastBody) -> ToolAnswer:
    found = [charge(one, own=True) for one in desk.history(body.last)]
    lines = [f"{one['id']}  {one['at']}  {one['asked']}  because: {one['because']}" for one in found]
    return ToolAnswer("\n".join(lines) or "Nothing was bought yet.", {"charges": found})


def _release(desk: Desk, body: ChargeBody) -> ToolAnswer:
    found = desk.release(body.charge)
    return ToolAnswer(str(found), found.to_dict())


def _times(fits: int | None) -> str:
    return "as often as you like, it costs nothing" if fits is None else f"{fits:,} more such answers"


def _left(desk: Desk) -> dict[str, Any]:
    own = desk.balance()
    return {own.scope: own.remaining.to_json()}


@dataclass(frozen=True)
class AgentTool:
    """A tool: its name, what an agent is told of it, what it takes and does.

    ``pays`` if it can cost something: its answer leaves at a tick.  ``watches`` if it tells whether a purchase was
    answered: that is read at a tick.  ``plans`` if a question decides how long it computes, for nothing.
    """

    name: str
    teaches: str
    body: type[Body]
    work: Callable[[Desk, Any], ToolAnswer]
    pays: bool = False
    watches: bool = False
    plans: bool = False


TOOLS = {
    tool.name: tool
    for tool in (
        AgentTool("list_tables", teaching.TABLES, TablesBody, _tables),
        AgentTool("explain", teaching.EXPLAIN, AgentQuestionBody, _explain, plans=True),
        AgentTool("ask", teaching.ASK, AgentAskBody, _ask, pays=True),
        AgentTool("how_many", teaching.FITS, AgentQuestionBody, _fits, plans=True),
        AgentTool("budget", teaching.BUDGET, NothingBody, _budget),
        AgentTool("history", teaching.HISTORY, LastBody, _history, watches=True),
        AgentTool("show_release", teaching.RELEASE, ChargeBody, _release, watches=True),
    )
}


def called(desk: Desk, name: str, arguments: Mapping[str, Any], report: Callable[[str], None]) -> ToolAnswer:
    """Call a tool; a refusal is an answer too, and what nobody foresaw is one constant error.

    ``report`` is told the kind of an unforeseen error, and nothing of what it says: that may quote rows.
    """
    try:
        tool = TOOLS.get(name)
        if tool is None:
            raise refused("There is no such tool.", f"Use {', '.join(TOOLS)}.", "not-found")
        work = partial(tool.work, desk, _body(tool, arguments))
        return bounded(work, desk.settings.planning) if tool.plans else work()
    except CuradorError as error:
        return _refusal(error, desk)
    except Exception as error:  # noqa: BLE001  its text and its frames may quote rows: only its kind is told
        report(type(error).__name__)
        return _refusal(unforeseen(), desk)


def _body(tool: AgentTool, arguments: Mapping[str, Any]) -> Body:
    try:
        return tool.body.model_validate(dict(arguments))
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
    raise malformed(found, f"See what {tool.name} takes.", body=tool.body)


def _refusal(error: CuradorError, desk: Desk) -> ToolAnswer:
    """What happened, what to do, what it cost and what remains."""
    try:
        left, words = _left(desk), f"\nRemaining: {desk.balance()}."
    except CuradorError:  # the ledger, or the server, does not answer
        left, words = {}, ""
    facts = {name: plain(value) for name, value in error.facts.items()}
    said = {"what": error.what, "fix": error.fix, "cost": error.cost, "code": code_of(error), "facts": facts}
    text = f"{error.what}\nTo do: {error.fix}\nCost: {error.cost}.{words}"
    return ToolAnswer(text, {"error": {"kind": type(error).__name__, **said}, "remaining": left}, failed=True)
