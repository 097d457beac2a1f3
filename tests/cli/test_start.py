"""A plain ask is read without the parser of all commands, and as that reads it; everything else is left to it."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from curador.cli import start
from curador.cli.asking import ask

SQL = "SELECT COUNT(*) AS n FROM t"
PLAIN = [
    ["ask", SQL],
    ["sql", "--epsilon", "0.1", SQL],
    ["ask", SQL, "--epsilon", "1/2", "--delta", "1e-6", "--json", "--fresh", "--override"],
    ["ask", SQL, "--rho", "0.5", "--confidence", "0.9", "--rows", "20", "-s", "a/b.toml", "-l", "es"],
    ["ask", SQL, "--accuracy", "5", "--accuracy", "7", "--analyst", "ana", "--key", "k", "--because", "a reason"],
    ["ask", SQL, "--study", "x.toml", "--language", "en", "--rehearse", "--progress", "--log", "errors.log"],
]
OTHER = [
    ["ask"],
    ["ask", "--help"],
    ["ask", SQL, "another"],
    ["ask", SQL, "--epsilon"],
    ["ask", SQL, "--epsilon=0.1"],
    ["ask", SQL, "--epsilon", "-1"],
    ["ask", SQL, "--rows", "many"],
    ["ask", SQL, "--rows-per-unit", "0"],
    ["ask", SQL, "--nothing", "1"],
    ["ask", "--", SQL],
]


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_line_is_read_as_the_other_parser_reads_it(line: list[str]) -> None:
    seen: list[dict[str, Any]] = []

    @wraps(ask)
    def noted(**given: Any) -> None:
        seen.append(given)

    app = typer.Typer()
    app.command()(noted)
    assert CliRunner().invoke(app, line[1:]).exit_code == 0
    defaults = {name: p.default for name, p in inspect.signature(ask).parameters.items()}
    assert seen == [{**defaults, "language": "en", **(start.quick_options(line) or {})}]


@pytest.mark.parametrize("line", OTHER)
def test_what_is_not_plain_is_left_to_the_other_parser(line: list[str]) -> None:
    assert start.quick_options(line) is None


def test_a_refusal_is_one_message_and_heavy_parsers_are_not_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from curador.cli.start import run\n"
        "try: run()\n"
        "finally: print([x for x in ('pydantic', 'curador.cli.app') if x in sys.modules])"
    )
    for line, loaded in ((PLAIN[0], "[]"), (["budget"], "['pydantic', 'curador.cli.app']")):
        done = subprocess.run(
            [sys.executable, "-c", code, *line], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout.strip()) == (1, loaded)
        assert "To do:" in done.stderr


def test_a_process_that_ends_at_once_has_printed_all_of_its_answer(tmp_path: Path) -> None:
    keys = [f"key-{i}" for i in range(3000)]  # far more than a pipe holds
    columns = f"columns = {{ k = {{ type = 'text', keys = {keys} }} }}"
    (tmp_path / "study.toml").write_text(
        f"[tables.t]\nsource = 't.csv'\nunit = 'row'\n{columns}\n[budget]\nepsilon = 1\n"
    )
    (tmp_path / "t.csv").write_text("k\nkey-1\n")
    code = "from curador.cli.start import main\nmain()"
    asked = ["ask", "SELECT k, COUNT(*) AS n FROM t GROUP BY k", "--epsilon", "0.1", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", code, *asked], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) > 1 << 16
    assert len(json.loads(done.stdout)["columns"]["k"]) == len(keys)


NOT_NEEDED = (
    *("scipy", "pandas", "pyarrow", "matplotlib", "pydantic", "ssl", "sqlglot.generators.duckdb"),
    *("curador.cli.app", "curador.accounting.pld", "curador.accounting.theorems", "curador.accounting.account"),
    *("curador.query.records.tally", "curador.remote", "curador.server", "curador.learn"),
)
"""What takes time to load and has no part in the answer to one plain question."""


def test_a_plain_question_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        "[tables.t]\nsource = 't.csv'\nunit = 'row'\n"
        "columns = { x = { type = 'integer', bounds = [0, 9] } }\n[budget]\nepsilon = 1\n"
    )
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    code = (
        "import sys; from curador.cli.start import run\n"
        f"run(); print([x for x in {(*NOT_NEEDED, 'numpy', 'duckdb')} if x in sys.modules])"
    )
    asked = ["ask", "SELECT COUNT(*) AS n, AVG(x) AS m FROM t WHERE x > 1", "--epsilon", "0.1"]
    done = subprocess.run(
        [sys.executable, "-c", code, *asked], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['numpy', 'duckdb']"
