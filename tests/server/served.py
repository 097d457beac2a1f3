"""A real server on a loopback port, in a thread of this process, so that it draws the test's own bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from curador import Access, Curator
from curador.curator.study.file import read_study
from curador.errors import QuestionRefused
from curador.server.access.auth import give
from curador.server.app import make_app
from curador.server.gate.cookies import mark_of, marked
from curador.server.gate.settings import Settings
from curador.server.loopback import on_loopback
from curador.server.service import Service

STUDY = """
[tables.people]
source = "people.csv"
unit = "row"
[tables.people.columns]
sex = { type = "text", keys = ["F", "M"] }
age = { type = "integer", bounds = [0, 100] }
pay = { type = "real", bounds = [0, 5000], step = 0.5 }

[tables.visits]
source = "visits.csv"
unit = "pid"
[tables.visits.columns]
pid = { type = "integer" }
town = { type = "text", keys = ["Lugo", "Vigo"] }

[tables.words]
source = "words.csv"
public = true
columns = { code = "text", word = "text" }

[tables.towns]
source = "towns.csv"
public = true
columns = { town = "text", coast = "text" }

[budget]
epsilon = 20
delta = 1e-6

[analysts.ana]
epsilon = 10
delta = 1e-7
[analysts.bea]
epsilon = 1
delta = 1e-7

[server]
tick = "10ms"
"""

JOINED = "SELECT w.word, COUNT(*) AS n FROM people p JOIN words w ON p.sex = w.code GROUP BY w.word"
"""A question whose groups only the server can list: they are the rows of a public table."""

SQL = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def write_study(folder: Path, rows: int = 400, study: str = STUDY) -> Path:
    """A study file and its table."""
    lines = [f"{'FM'[i % 2]},{20 + i % 50},{(i * 37) % 5000}.5" for i in range(rows)]
    (folder / "people.csv").write_text("\n".join(["sex,age,pay", *lines]) + "\n")
    visits = [f"{i % 60},{('Lugo', 'Vigo')[i % 2]}" for i in range(rows)]
    (folder / "visits.csv").write_text("\n".join(["pid,town", *visits]) + "\n")
    (folder / "words.csv").write_text("code,word\nF,woman\nM,man\n")
    (folder / "towns.csv").write_text("town,coast\nLugo,no\nVigo,yes\n")
    file = folder / "study.toml"
    file.write_text(study)
    return file


@dataclass(frozen=True)
class Served:
    """A server that runs, its curator, and a token of each role."""

    url: str
    service: Service
    study: Path
    tokens: dict[str, str]

    @property
    def curator(self) -> Curator:
        return self.service.curator

    def give(self, role: str, who: str = "", **more: Any) -> str:
        return give(self.curator.ledger, Access("", role, who, **more))

    def cookie(self, name: str) -> str:
        """The name of a cookie of this study."""
        return marked(name, mark_of(self.study))

    def client(self, who: str | None = None) -> httpx.Client:
        headers = {} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)


def too_long(task: Callable[[], Any], seconds: float) -> Any:
    """In place of ``bounded``: whatever it is, it took too long."""
    raise QuestionRefused(
        f"Planning this takes more than {seconds:g} seconds of the server's time.",
        fix="Ask for less at once.",
        code="planning-too-long",
        facts={"seconds": f"{seconds:g}"},
    )


class TooLongOnce:
    """In place of ``bounded``: the work whose turn it is takes too long, and no other does."""

    def __init__(self, turn: int) -> None:
        self.left = turn

    def __call__(self, task: Callable[[], Any], seconds: float) -> Any:
        self.left -= 1
        return too_long(task, seconds) if self.left == -1 else task()


@contextmanager
def serving(study: Path, *, tokens: bool = True, **settings: Any) -> Iterator[Served]:
    """Serve a study until the end of the block."""
    stated = {**read_study(study).server, **settings}
    app = make_app(lambda ledger: Curator(study, ledger=ledger), Settings.read(stated, study.parent))
    with on_loopback(app) as url:
        service: Service = app.state.service
        ledger = service.curator.ledger
        given = {role: give(ledger, Access("", role)) for role in ("curator", "auditor", "reader")}
        given |= {who: give(ledger, Access("", "analyst", who)) for who in ("ana", "bea") if tokens}
        yield Served(url, service, study, given)
