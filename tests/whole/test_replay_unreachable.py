"""The seam of replay is not reachable in production: nothing but the audit and its commands knows of it."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys

import curador
from curador.audit.replay import seam
from tests.whole.test_architecture import FILES, SRC, names_used

ALLOWED = ("audit/", "cli/audit/")
TEXTS = {path: (SRC / path).read_text() for path in FILES}


def test_nothing_else_imports_it() -> None:
    using = {
        path
        for path in FILES
        if "replay" in TEXTS[path] or "import_module" in TEXTS[path]
        for _, name in names_used(TEXTS[path], path)
        if name.startswith("curador.audit.replay")
    }
    assert using
    assert {path for path in using if not path.startswith(ALLOWED)} == set()


def test_only_the_audit_writes_to_the_source_of_bytes() -> None:
    writing = {path for path in FILES if re.search(r"^\s*source\._fresh\s*=", TEXTS[path], re.M)}
    assert writing == {"audit/replay/seam.py"}
    assigned = {
        path
        for path in FILES
        if "_fresh" in TEXTS[path] or ".SYSTEM" in TEXTS[path]
        for node in ast.walk(ast.parse(TEXTS[path]))
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Attribute) and t.attr in ("_fresh", "SYSTEM") for t in node.targets)
    }
    assert assigned == {"audit/replay/seam.py"}


def test_no_setting_of_the_machine_starts_it() -> None:
    room = [path for path in FILES if path.startswith("audit/replay/")]
    assert len(room) > 5
    for path in room:
        assert not re.search(r"environ|getenv|argv", (SRC / path).read_text()), path
    assert list(inspect.signature(seam.watched).parameters) == ["before"]


def test_it_is_not_public_and_not_loaded() -> None:
    assert not any("replay" in name.lower() or "watched" in name.lower() for name in dir(curador))
    code = "import sys, curador.curator.curator, curador.learn, curador.cli.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "curador.curator.purchase" in loaded
    assert not any(name.startswith("curador.audit.replay") for name in loaded)
