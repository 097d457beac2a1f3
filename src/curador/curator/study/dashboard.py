"""A dashboard file: questions with names and weights, one budget for all of them, published as a whole."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from curador.curator.purchases.batch import Batch
from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release
from curador.curator.study.document import read_document, text
from curador.errors import InvalidParameter
from curador.mechanisms.base import checked_confidence
from curador.numbers import Number
from curador.query.plan.expected import Within
from curador.query.tables.names import refuse_unknown
from curador.show.files import write_atomically

SETTINGS = ("title", "study", "epsilon", "delta", "rho", "confidence", "because", "adjust", "questions")
ENTRY = ("sql", "title", "weight", "accuracy", "confidence", "why")
FORMATS = ("json", "csv", "parquet")


@dataclass(frozen=True)
class DashboardQuestion:
    """One question of a dashboard.

    ``accuracy`` is the error wanted, instead of a share of the budget; ``why`` says in words why it gets its weight.
    """

    sql: str
    title: str = ""
    weight: Number = 1
    accuracy: Within | None = None
    why: str = ""


class Planning(Protocol):
    """A curator, as a dashboard sees it: it plans a batch."""

    @property
    def batch(self) -> Callable[..., Batch]: ...


@dataclass(frozen=True)
class Dashboard:
    """A dashboard: the file of its study, where it names one, the budget of the whole, and the questions by name."""

    named: Path | None
    questions: Mapping[str, DashboardQuestion]
    budget: Mapping[str, Number]
    title: str = ""
    confidence: float = 0.95
    because: str = ""
    adjust: bool = True

    @property
    def study(self) -> Path:
        """The file of its study; a dashboard for a server's curator needs none."""
        if self.named is None:
            what, fix = "The dashboard names no study.", 'Write study = "study.toml".'
            raise InvalidParameter(what, fix=fix, code="board-without-study")
        return self.named

    @property
    def weights(self) -> dict[str, Number]:
        return {name: entry.weight for name, entry in self.questions.items() if entry.accuracy is None}

    @property
    def accuracies(self) -> dict[str, Within]:
        return {name: entry.accuracy for name, entry in self.questions.items() if entry.accuracy is not None}

    @property
    def words(self) -> dict[str, Any]:
        """What was written for readers: titles, reasons, SQL."""
        each = {
            name: {"title": entry.title, "why": entry.why, "sql": entry.sql} for name, entry in self.questions.items()
        }
        return {"title": self.title, "because": self.because, "questions": each}

    def batch(self, curator: Planning, rows: int | None = None) -> Batch:
        """Plan the dashboard's questions together; free.  ``rows`` are known ones, for the errors to expect."""
        asked = {name: entry.sql for name, entry in self.questions.items()}
        split = {"weights": self.weights, "accuracies": self.accuracies, "confidence": self.confidence}
        return curator.batch(asked, **self.budget, **split, rows=rows, words=self.words, adjust=self.adjust)


def read_dashboard(path: str | Path) -> Dashboard:
    """Read a dashboard file; anything wrong with it is one clear error.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "d.toml"
    ...     _ = file.write_text('study = "s.toml"\\nepsilon = 1\\n[questions.n]\\nsql = "SELECT COUNT(*) FROM t"\\n')
    ...     read_dashboard(file).questions["n"].weight
    1
    """
    file = Path(path)
    document = read_document(file, "dashboard file")
    refuse_unknown(document, SETTINGS, file.name)
    study, questions = document.get("study"), document.get("questions")
    if not isinstance(study, str | None):
        raise InvalidParameter(f"{file.name} names its study by a path.", fix='Write study = "study.toml".')
    if not isinstance(questions, Mapping) or not questions:
        raise InvalidParameter(f"{file.name} has no questions.", fix="Add a section [questions.NAME] with its sql.")
    adjust = document.get("adjust", True)
    if not isinstance(adjust, bool):
        raise InvalidParameter("adjust is true or false.", fix="Write adjust = false to leave tables as measured.")
    entries = {str(name): _entry(str(name), given) for name, given in questions.items()}
    budget: dict[str, Number] = {name: document[name] for name in ("epsilon", "delta", "rho") if name in document}
    return Dashboard(
        None if study is None else file.parent / study,
        MappingProxyType(entries),
        MappingProxyType(budget),
        text(document, "title"),
        checked_confidence(document.get("confidence", 0.95)),
        text(document, "because"),
        adjust,
    )


def _entry(name: str, given: object) -> DashboardQuestion:
    if not isinstance(given, Mapping) or not isinstance(given.get("sql"), str):
        raise InvalidParameter(f"The question {name!r} has no sql.", fix='Write sql = "SELECT …".')
    if not name.replace("-", "_").isidentifier():
        raise InvalidParameter(f"A question is named by letters and digits, not {name!r}.", fix="Rename it.")
    refuse_unknown(given, ENTRY, f"The question {name!r}")
    wanted = given.get("accuracy")
    if wanted is not None and "weight" in given:
        raise InvalidParameter(f"The question {name!r} has a weight and an accuracy.", fix="Give one of them.")
    accuracy = None if wanted is None else Within(wanted, given.get("confidence", 0.95))
    return DashboardQuestion(given["sql"], text(given, "title"), given.get("weight", 1), accuracy, text(given, "why"))


# ---- files ---------------------------------------------------------------------------------------------------------


def write(publication: Publication, folder: str | Path, formats: tuple[str, ...] = FORMATS) -> list[Path]:
    """Write a publication into a folder: one JSON file of everything, and a CSV and a Parquet file for each release.

    Every file appears whole or not at all.
    """
    where = Path(folder)
    try:
        where.mkdir(parents=True, exist_ok=True)
        written = []
        if "json" in formats:
            written.append(write_atomically(where / "publication.json", (publication.to_json() + "\n").encode()))
        for name in publication:
            if "csv" in formats:
                written.append(write_atomically(where / f"{name}.csv", publication[name].to_csv().encode()))
            if "parquet" in formats:
                written.append(write_atomically(where / f"{name}.parquet", _parquet(publication[name])))
    except OSError as error:
        raise InvalidParameter(
            f"The files could not be written to {where.name!r}: {error.strerror}.",
            fix="Make room, or choose another folder, and publish again: what was answered is free.",
            cost=f"charge {publication.charge} is kept, with its answers",
        ) from None
    return written


def _parquet(release: Release) -> bytes:
    from curador.engines.duckdb.parquet import write_parquet  # the driver is heavy: loaded when a file is written

    with tempfile.TemporaryDirectory(prefix="curador-publish-") as folder:
        path = Path(folder) / "release.parquet"
        write_parquet(release.flat(), path)
        return path.read_bytes()
