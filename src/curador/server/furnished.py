"""The demonstration as `curador serve demo` shows it: an analyst, a history, a dashboard, a collection, a model.

The rows are made up, about no real person, and so are the devices.
"""

from __future__ import annotations

from pathlib import Path

from curador import Access, Curator
from curador.curator.purchase import Request
from curador.curator.study.demo import run
from curador.curator.study.edit import rewrite, with_entry
from curador.curator.study.file import read_study
from curador.curator.study.samples import SECTORS, staff
from curador.errors import CuradorError
from curador.local import KRR
from curador.local.collect.collector import Collector
from curador.local.collect.rehearsal import made_up, simulated_messages
from curador.server.access.auth import give
from curador.show.files import write_atomically

ANALYST, SHARE = "ana", "1/2"
"""The analyst, and the part of the study's budget that is theirs."""

QUESTIONS = {
    "SELECT COUNT(*) AS n FROM salaries WHERE pay > 50000": "how many earn more than the median asked for",
    "SELECT AVG(pay) AS mean FROM salaries WHERE pay > 20000": "the mean without side jobs",
    "SELECT HISTOGRAM(pay, 0, 50000, 100000, 200000) AS people FROM salaries": "a first look at the shape",
}
PRICE = "1/20"

DRINKS = KRR(keys=["tea", "coffee", "water", "juice"], epsilon=2).named("drinks")
PEOPLE = 2000


STAFF = {
    "source": "staff.csv",
    "unit": "row",
    "columns": {
        "age": {"type": "integer", "bounds": [18, 70]},
        "years": {"type": "integer", "bounds": [0, 50]},
        "sector": {"type": "text", "keys": list(SECTORS)},
        "pay": {"type": "integer", "bounds": [0, 6000]},
    },
}
MODEL = {
    "model": "LinearRegression",
    "table": "staff",
    "features": ["age", "years", "sector"],
    "label": "pay",
    "settings": {"epsilon": "1/4"},
}


def furnish(folder: str | Path) -> Path:
    """Make the demonstration in a folder complete, where anything is missing; returns its study file."""
    shown = run(folder)
    study = shown.board.study
    _collection(study)
    _staff(study)
    curator = Curator(study)
    try:
        _analyst(curator)
        _public(curator, shown.publication.charge)
        _model(curator)
    finally:
        curator.close()
    return study


def _collection(study: Path) -> None:
    was = study.read_text(encoding="utf-8-sig")
    if DRINKS.name in read_study(study).server.get("collect", {}):
        return
    place = study.parent / "drinks-reports"
    collector = Collector.open_or_create(place, DRINKS)
    if not collector.totals().accepted:
        collector.collect(simulated_messages(DRINKS, made_up(DRINKS, PEOPLE)))
    rewrite(study, was, with_entry(was, ("server", "collect", DRINKS.name), place.name))


def _staff(study: Path) -> None:
    """A second table, with something to learn from."""
    was = study.read_text(encoding="utf-8-sig")
    if "staff" in read_study(study).tables:
        return
    lines = ["age,years,sector,pay", *(",".join(map(str, row)) for row in staff())]
    write_atomically(study.with_name("staff.csv"), "\n".join([*lines, ""]).encode())
    rewrite(study, was, with_entry(was, ("tables", "staff"), STAFF))


def _model(curator: Curator) -> None:
    """A model, where the library that learns is installed; bought once."""
    try:
        from curador.learn.recipe import recipe_from
    except CuradorError:
        return
    curator.buy(recipe_from(MODEL, "model").training(curator), Request(because="what pay depends on"))


def _analyst(curator: Curator) -> None:
    """A budget of a part of what the study has, and a few questions paid from it; bought once."""
    if curator.scopes.named(ANALYST) not in curator.ledger:
        curator.grant(ANALYST, epsilon=SHARE, because="to try the console as an analyst")
    for sql, because in QUESTIONS.items():
        curator.ask(sql, epsilon=PRICE, analyst=ANALYST, because=because)


def _public(curator: Curator, charge: str) -> None:
    if not any(one.charge == charge and not one.ended for one in curator.ledger.accesses()):
        give(curator.ledger, Access("", "reader", label="the demonstration's dashboard", charge=charge))
