"""What the first view of a page would wait for, made before anybody comes: templates, libraries, tables of numbers.

Nothing here reads data, or spends: questions are about made-up rows, and what was published comes from the ledger.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from curador import ApproxDP, Curator, Neighbors, PureDP, Table
from curador.curator.releases.recall import recall
from curador.curator.stoppable import ready_to_stop
from curador.errors import CuradorError
from curador.server.console.playground.lessons import LESSONS
from curador.server.console.rendering import ENVIRONMENT
from curador.server.gate.metrics import LOG
from curador.show.pages.page import figure
from curador.show.report.odds import odds
from curador.show.words.say import pages, refusals, texts

NOWHERE = Table(
    "nowhere.csv",
    columns={"sex": {"type": "text", "keys": ["F", "M"]}, "age": {"type": "integer", "bounds": [0, 99]}},
)
SQL = {"n": "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "mean": "SELECT AVG(age) AS mean FROM people"}

ROWS = 10

LOADED = (
    "curador.curator.releases.reporting",
    "curador.curator.releases.verify",
    "curador.show.report.document",
)
LEARNING = ("recipe", "preprocess", "search", "trials", "sums.inside")
"""What reports and refusals load in every language, and pages of models where the library that learns is installed."""

NEWEST, MOST, LONGEST = 200, 8, 10.0
"""Of so many charges, the so many newest publications, whose joint epsilon takes a tenth of a second to find; and the
seconds after which no other is begun."""


def warm(curator: Curator) -> None:
    """Do what first views do."""
    _loaded()
    _published(curator)


@cache
def _loaded() -> None:
    """What is the same for every study; a second time there is nothing to do."""
    for name in ENVIRONMENT.list_templates(extensions=("html",)):
        ENVIRONMENT.get_template(name)
    for files in (("report", "release"), ("facts",), *((f"console/{page}",) for page in pages())):
        texts(*files)
    refusals()
    for name in LOADED:
        import_module(name)
    for lesson in LESSONS.values():
        shown = lesson.show(**{knob.name: knob.read(knob.default) for knob in lesson.knobs})
        for drawing in shown.drawings:
            figure(drawing)
    ready_to_stop()
    _question()
    _learning()


def _question() -> None:
    """A question is read, planned, put into words and tried on made-up rows, with the odds of what it costs."""
    curator = Curator({"people": NOWHERE}, budget=PureDP(1))
    try:
        planned = curator.batch(SQL, epsilon=1, delta="1e-9", tight="1e-6")
        str(curator.explain(SQL["n"], epsilon=1))
        stage = curator.rehearse(rows=ROWS)
        try:
            stage.ask(SQL["n"], epsilon=1)
        finally:
            stage.close()
        odds(planned.guarantee, ApproxDP(1, 1e-6), [(None, Neighbors.ADD_REMOVE)], "en")
    finally:
        curator.close()


def _learning() -> None:
    try:
        learn = import_module("curador.learn")
        for name in LEARNING:
            import_module(f"curador.learn.{name}")
        for model in learn.__all__:
            getattr(learn, model)
    except CuradorError:  # scikit-learn is not installed: there are no such pages
        return


def _published(curator: Curator) -> None:
    """What the newest publications cost as a whole is remembered from here on.

    Whatever was bought, a server starts: what cannot be shown again is left to its page, and the rest if it takes long.
    """
    begun = time.monotonic()
    settled = [one for one in curator.history(last=NEWEST) if one.settled]
    several = [one for one in settled if isinstance(asked := one.note.get("asked"), Mapping) and len(asked) > 1]
    for charge in several[: -MOST - 1 : -1]:
        if time.monotonic() - begun > LONGEST:
            return
        try:
            recall(curator, charge.id)
        except CuradorError:  # declared otherwise now: its page says so, and whoever comes
            continue
        except Exception as error:  # noqa: BLE001  its text may quote an answer: only its kind is logged
            LOG.error(json.dumps({"charge": charge.id, "failed": type(error).__name__}))
