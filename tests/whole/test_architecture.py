"""The shape of the house, kept by reading every file.

Arrows point down, drivers and entropy have one room each, a folder is read in the order its ``__init__`` lists, a class
name means one thing, words decide nothing, and messages name no door.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_overloads

import pytest

import curador
from curador.engines.registry import ENGINES

SRC = Path(__file__).parents[2] / "src" / "curador"
LONGEST = 800  # lines; a file that outgrows it holds two ideas

BASE = {"errors", "forks", "numbers", "privacy"}
CORE = BASE | {"noise", "accounting", "mechanisms"}
# For each room, the rooms it may import. A new room is a decision: it gets its line here and in ARCHITECTURE.md.
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "forks": {"errors"},
    "numbers": {"errors"},
    "privacy": {"errors", "numbers"},
    "noise": BASE,
    "accounting": BASE,
    "mechanisms": BASE | {"noise", "accounting"},
    "show": BASE | {"accounting"},
    "query": CORE | {"show"},
    "engines": BASE | {"query", "mechanisms", "show"},
    "ledger": BASE | {"accounting", "noise", "show"},  # noise: its key is drawn where all randomness is
    "curator": CORE | {"show", "query", "engines", "ledger"},
    "local": CORE | {"show"},
    "learn": CORE | {"show", "curator"},
    "synth": CORE | {"show", "curator"},
    "audit": CORE | {"show", "query", "engines", "curator"},  # it makes tables up, and writes them
    "remote": CORE | {"show", "curator", "query", "ledger"},  # the same interface over a connection
}
ARROWS["__init__"] = set(ARROWS)
DOORS = {
    "curator",
    "remote",
    "local",
    "learn",
    "synth",
    "audit",
    "show",
    "accounting",
    "errors",
    "__init__",
}  # what is public
ARROWS["server"] = DOORS | {"forks"}  # whether the process that took a job still runs
ARROWS["cli"] = DOORS | {"server"}
ARROWS["__main__"] = {"cli"}

ELSEWHERE = {
    "duckdb": (
        "engines/duckdb/instance.py",
        "engines/duckdb/parquet.py",
        "local/collect/store.py",
        "local/collect/table.py",
    ),
    "psycopg": ("ledger/stores/postgres.py",),
    "pyspark": ("local/collect/spark.py",),
}
DRIVERS = {
    entry.driver: (f"{entry.module.removeprefix('curador.').replace('.', '/')}.py", *ELSEWHERE.get(entry.driver, ()))
    for entry in ENGINES.values()
}
PARSER, PARSER_ROOM = "sqlglot", "query/ask/sql/"  # a question built in Python never needs it
ENTROPY = {"secrets", "os.urandom", "os.getrandom", "ssl.RAND_bytes", "ssl.RAND_priv_bytes"}
ALONE = "local/devices/curador_device.py"  # copied to devices as one file: it may import nothing of ours, and be longer
LONGEST_ALONE = 1200
ENTROPY_ROOMS = ("noise/entropy.py", "server/access/auth.py", ALONE)
RANDOM = {"random", "numpy.random"}
RANDOM_ROOMS = ("curator/study/samples.py", "audit/", "learn/torch/")
HEAVY = ("scipy", "duckdb", "pandas", "matplotlib", "typer", "sqlglot")


def room(path: str) -> str:
    """The room a file belongs to: ``noise/laplace.py`` is in noise, ``privacy.py`` in privacy."""
    return path.split("/")[0].removesuffix(".py")


def names_used(source: str, path: str) -> Iterator[tuple[int, str]]:
    """Every dotted name a file imports or reads through an import, wherever in the file it does so."""
    tree = ast.parse(source)
    package = ["curador", *path.split("/")[:-1]]
    alias: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
                alias[name.asname or name.name.split(".")[0]] = name.name if name.asname else name.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            inside = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*inside, *([node.module] if node.module else [])])
            for name in node.names:
                yield node.lineno, f"{origin}.{name.name}"
                alias[name.asname or name.name] = f"{origin}.{name.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            head, _, rest = dotted.partition(".")
            if head in alias:
                yield node.lineno, f"{alias[head]}.{rest}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from ((node.lineno, str(arg.value)) for arg in node.args[:1] if isinstance(arg, ast.Constant))


def under(name: str, roots: set[str]) -> bool:
    return any(name == root or name.startswith(root + ".") for root in roots)


def violations(source: str, path: str) -> set[str]:
    """What a file at ``path`` (relative to the package) does that the architecture forbids."""
    here, found = room(path), set()
    if here not in ARROWS:
        found.add(f"{path}: no room of that name; give it its arrows")
    if Path(path).stem in {"utils", "util", "helpers", "common"}:
        found.add(f"{path}: a file is named for its idea")
    if source.count("\n") > (most := LONGEST_ALONE if path == ALONE else LONGEST):
        found.add(f"{path}: more than {most} lines")
    for line, name in names_used(source, path):
        if name.split(".")[0] == "curador":
            there = name.split(".")[1] if "." in name else ""
            there = there if there in ARROWS else "__init__"  # `from curador import Laplace` asks the front door
            if path == ALONE or there not in {here, *ARROWS.get(here, set())}:
                found.add(f"{path}:{line}: {here} imports {there}")
        for driver, rooms in DRIVERS.items():
            if under(name, {driver}) and path not in rooms:
                found.add(f"{path}:{line}: only {' and '.join(rooms)} may import {driver}")
        if under(name, {PARSER}) and not path.startswith(PARSER_ROOM):
            found.add(f"{path}:{line}: only {PARSER_ROOM} may import {PARSER}")
        if under(name, ENTROPY) and path not in ENTROPY_ROOMS:
            found.add(f"{path}:{line}: entropy comes from noise/entropy.py")
        if under(name, RANDOM) and not path.startswith(RANDOM_ROOMS):
            found.add(f"{path}:{line}: random and numpy.random are no sources of noise")
    return found


FILES = sorted(file.relative_to(SRC).as_posix() for file in SRC.rglob("*.py"))


def test_every_file_keeps_to_the_architecture() -> None:
    assert sorted(set().union(*(violations((SRC / path).read_text(), path) for path in FILES))) == []


def test_there_is_something_to_read() -> None:
    assert {"errors.py", "privacy.py", "numbers.py"} <= set(FILES)


def test_arrows_point_down() -> None:
    """No room can reach itself, however long the way."""

    def below(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [*ARROWS[start]]
        while todo:
            if (name := todo.pop()) not in seen:
                seen.add(name)
                todo += ARROWS[name]
        return seen

    assert [name for name in ARROWS if name in below(name)] == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("noise/laplace.py", "from curador.accounting import events"),
        ("accounting/pld.py", "from curador.noise.laplace import DiscreteLaplace"),
        ("accounting/pld.py", "def f():\n    import curador.noise"),
        ("accounting/pld.py", "from ..noise import laplace"),
        ("accounting/pld.py", "from curador import noise"),
        ("mechanisms/laplace.py", "from curador import Laplace"),
        ("mechanisms/laplace.py", "from importlib import import_module\nimport_module('curador.curator.curator')"),
        ("privacy.py", "import curador.accounting.events as events"),
        ("errors.py", "from curador.numbers import up"),
        ("engines/duckdb/engine.py", "from curador.noise import Laplace"),
        ("local/frequency/krr.py", "from curador.ledger import sqlite"),
        ("local/frequency/krr.py", "from curador.learn import linear"),
        (ALONE, "from curador.errors import InvalidValue"),
        (ALONE, "import random"),
        ("curator/curator.py", "from curador.cli.app import main"),
        ("query/plan/plan.py", "import duckdb"),
        ("engines/spark.py", "import duckdb"),
        ("query/sql_plan/ir.py", "from sqlglot import exp"),
        ("query/ask/builder.py", "def f():\n    import sqlglot.expressions"),
        ("engines/duckdb/engine.py", "from psycopg import connect"),
        ("noise/words.py", "import os\nos.urandom(8)"),
        ("noise/words.py", "from os import urandom"),
        ("noise/words.py", "import ssl as tls\ntls.RAND_bytes(8)"),
        ("server/app.py", "import secrets"),
        ("noise/words.py", "import random"),
        ("noise/words.py", "from random import SystemRandom"),
        ("learn/linear.py", "import numpy as np\nnp.random.default_rng()"),
        ("learn/linear.py", "import numpy.random"),
        ("learn/linear.py", "from numpy.random import default_rng"),
        ("learn/linear.py", "from numpy import random as r"),
        ("noise/utils.py", ""),
        ("misc.py", ""),
        ("noise/laplace.py", "\n" * (LONGEST + 1)),
    ],
)
def test_a_violation_is_seen(path: str, source: str) -> None:
    assert len(violations(source, path)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("noise/entropy.py", "import ssl\nssl.RAND_bytes(8)"),
        ("noise/entropy.py", "import os\nos.register_at_fork(before=print)"),
        ("server/access/auth.py", "import secrets\nsecrets.token_urlsafe()"),
        (ALONE, "import os\nos.urandom(8)"),
        ("curator/study/samples.py", "import numpy as np\nnp.random.default_rng(1)"),
        ("audit/tester.py", "import random"),
        ("learn/torch/engine.py", "import numpy as np\nnp.random.default_rng(1)"),
        ("engines/duckdb/engine.py", "import duckdb\nfrom curador.query.plan.plan import Plan"),
        ("mechanisms/laplace.py", "from curador.noise import laplace\nfrom curador.accounting.events import Event"),
        (
            "mechanisms/laplace.py",
            "from . import gaussian\nfrom ..noise import x\nfrom curador import accounting",
        ),
        ("cli.py", "import curador\nfrom curador.server import app"),
        ("query/ask/sql/read.py", "import sqlglot\nx.random.y"),
    ],
)
def test_what_is_allowed_passes(path: str, source: str) -> None:
    assert violations(source, path) == set()


# ---- folders are read in order -----------------------------------------------------------------------------------

FOLDERS = sorted({(SRC / file).parent for file in FILES})


def listed(docstring: str) -> list[str]:
    """The files and folders that a folder's docstring names, in its order."""
    return re.findall(r"^\* (\w+) — \S", docstring, re.MULTILINE)


def unlisted(folder: Path) -> set[str]:
    """The files and folders that a folder's docstring misses, or names though they are not there."""
    inside = {file.stem for file in folder.glob("*.py")} - {"__init__", "__main__"}
    inside |= {f.name for f in FOLDERS if f.parent == folder and f != folder}
    tree = ast.parse((folder / "__init__.py").read_text())
    return inside ^ set(listed(ast.get_docstring(tree) or ""))


def test_every_folder_lists_what_is_in_it() -> None:
    folders = [f for f in FOLDERS if f != SRC]  # the root is listed in ARCHITECTURE.md
    assert {f.relative_to(SRC).as_posix(): unlisted(f) for f in folders if unlisted(f)} == {}


def holds_code(source: str) -> bool:
    """Whether an ``__init__`` does more than describe its folder and re-export names."""
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    return any(not isinstance(node, allowed) for node in ast.parse(source).body[1:])


def test_no_init_holds_code() -> None:
    assert [str(f) for f in FOLDERS if holds_code((f / "__init__.py").read_text())] == []


# ---- tests stand beside what they test ---------------------------------------------------------------------------

TESTS = SRC.parents[1] / "tests"
NOT_MIRRORED = {"whole", "course", "mutants"}  # of the whole house; its pages; deliberately broken mechanisms


def test_tests_mirror_the_source() -> None:
    """Every folder of tests is one of the source, and every folder of the source with code has its tests."""
    tests = {f.parent.relative_to(TESTS).as_posix() for f in TESTS.rglob("test_*.py")}
    source = {f.relative_to(SRC).as_posix() for f in FOLDERS}
    assert {t for t in tests if t.split("/")[0] not in NOT_MIRRORED} <= source
    beside = {
        s for s in source if s in tests or str(Path(s).parent) in tests or any(t.startswith(f"{s}/") for t in tests)
    }
    assert source - beside == set()


# ---- one name, one meaning ---------------------------------------------------------------------------------------


def class_names() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in FILES:
        if file == ALONE:
            continue
        for node in ast.parse((SRC / file).read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(file)
    return found


def test_no_test_asks_how_fast_the_machine_is() -> None:
    """A time that passed may have a least value, never a greatest: count steps instead (tests/steps.py)."""
    measured = re.compile(r"process_time|perf_counter|time\(\) - \w+ <|monotonic\(\) - \w+ <")
    files = [file for file in TESTS.rglob("*.py") if file != Path(__file__)]
    assert [str(file.relative_to(TESTS)) for file in files if measured.search(file.read_text())] == []
    assert measured.search("assert time.monotonic() - begun < 5")
    assert not measured.search("assert time.monotonic() - begun >= 0.3")


def test_a_class_name_means_one_thing() -> None:
    assert {name: files for name, files in class_names().items() if len(files) > 1} == {}


# ---- words decide nothing ----------------------------------------------------------------------------------------

NAMES_A_DOOR = re.compile(r"(?<![\w-])--[a-z]{2,}|`curador [a-z]")
SAYS = {"show", "cli", "server"}  # what may hold texts in a language


def worded(path: str, source: str) -> set[str]:
    """Where a file decides by a text that people read, or names a door in a message."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        compared = isinstance(node, ast.Compare) and any(map(is_text, [node.left, *node.comparators]))
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_text(node.func.value)
        if (compared or called) and path != "errors.py":
            found.add(f"{path}:{getattr(node, 'lineno', 0)}: reads an error's text")
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if room(path) not in {"cli", "server"} and path != ALONE and NAMES_A_DOOR.search(text):
            found.add(f"{path}:{getattr(node, 'lineno', 0)}: names a command or its option")
    if room(path) not in SAYS and any(under(name, {"curador.show.words"}) for _, name in names_used(source, path)):
        found.add(f"{path}: holds texts in a language")
    return found


def is_text(node: ast.AST) -> bool:
    """Whether an expression is ``something.what`` or ``something.fix``."""
    return isinstance(node, ast.Attribute) and node.attr in ("what", "fix")


def test_words_decide_nothing() -> None:
    assert sorted(set().union(*(worded(path, (SRC / path).read_text()) for path in FILES))) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("curator/purchase.py", "if 'budget' in error.what: pass"),
        ("curator/purchase.py", "error.what.replace('a', 'b')"),
        ("curator/policy.py", "raise QuestionRefused('No.', fix='Give --because.')"),
        ("curator/policy.py", "raise QuestionRefused('No.', fix='Run `curador grant`.')"),
        ("curator/policy.py", "from curador.show.words.say import say"),
    ],
)
def test_a_deciding_word_is_seen(path: str, source: str) -> None:
    assert len(worded(path, source)) == 1


# ---- what people type is typed -----------------------------------------------------------------------------------


def untyped(thing: object) -> list[str]:
    """The public methods and functions of a public name that take ``**Any`` or return Any."""
    found = []
    for name, method in inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else [("", thing)]:
        if name.startswith("_") or not inspect.isfunction(method) or not method.__module__.startswith("curador"):
            continue
        for parameter in inspect.signature(method).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD and "Any" in str(parameter.annotation):
                found.append(f"{name}(**{parameter.name}: Any)")
        if method.__annotations__.get("return") in ("Any", Any) and not get_overloads(method):
            found.append(f"{name}() -> Any")
    return found


def test_public_names_are_typed() -> None:
    assert {name: found for name in curador.__all__ if (found := untyped(getattr(curador, name)))} == {}


# ---- imports stay light ------------------------------------------------------------------------------------------


def loaded_by(code: str) -> set[str]:
    """Which heavy libraries a fresh interpreter has loaded after running ``code``."""
    report = f"import sys; print(*(m for m in {HEAVY} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_curador_stays_light() -> None:
    assert loaded_by("import curador") == set()


def test_a_heavy_import_is_seen() -> None:
    assert loaded_by("import typer") == {"typer"}


BUILT = """
from curador import Curator, PureDP, Table, count, mean
from curador.engines.duckdb.dialects import DUCKDB
from curador.engines.render import render
from curador.query.language.expressions import Compare, Literal, Name

people = Table("p.csv", unit="id", contribution=(1, 2), columns={
    "id": "integer", "sex": {"type": "text", "keys": ["F", "M"]}, "age": {"type": "integer", "bounds": [0, 120]}})
adults = Curator({"people": people}, budget=PureDP(1)).table("people").where(CONDITION)
plan = adults.group_by("sex").aggregate(n=count(), age=mean("age")).plan(epsilon=0.1)
assert all(render(s.tree, DUCKDB, {"s0": "people"}).startswith("SELECT") for s in plan.exact.statements)
"""


def test_only_a_text_loads_the_parser() -> None:
    """A question built in Python is planned, lowered and written as SQL without a SQL parser."""
    assert PARSER not in loaded_by(BUILT.replace("CONDITION", "Compare('>=', Name('age'), Literal(18))"))
    assert PARSER in loaded_by(BUILT.replace("CONDITION", "'age >= 18'"))
