"""The two files stand alone: nothing but the language they are written in, one source of randomness, one file each."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from curador.errors import InvalidParameter
from curador.local import KRR
from curador.local.collect.wire import read_message
from curador.local.devices.clients import FILES, source
from tests.local.devices.both import document

PYTHON, JS = source("python"), source("js")
TASK = KRR(["tea", "water"], 1).named("drinks")


def code_of(js: str) -> str:
    """JavaScript without its comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", js, flags=re.DOTALL)


def imported(python: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(python)):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            found.add(str(node.module).split(".")[0])
    return found


def test_the_python_client_imports_the_standard_library_only() -> None:
    assert imported(PYTHON) <= sys.stdlib_module_names | {"__future__"}
    assert not imported(PYTHON) & {"random", "curador", "numpy"}
    assert "__import__" not in PYTHON
    assert "importlib" not in PYTHON


def test_the_python_client_is_written_for_older_pythons() -> None:
    ast.parse(PYTHON, feature_version=(3, 9))
    assert not re.search(r"bit_count\(|strict=True|^\s*match ", PYTHON, re.MULTILINE)
    with pytest.raises(SyntaxError):
        ast.parse("match x:\n    case 1: pass", feature_version=(3, 9))


@pytest.mark.parametrize("word", ["require", "import", "Math.random", "eval", "Function(", 'fetch("', "XMLHttpRequest"])
def test_the_javascript_client_uses_nothing_else(word: str) -> None:
    assert word not in code_of(JS)


def test_the_javascript_client_has_one_source_of_randomness() -> None:
    assert set(re.findall(r"crypto\.\w+", code_of(JS))) == {"crypto.getRandomValues"}
    assert code_of("a(); // require\n/* import\n */ b();").split() == ["a();", "b();"]


def test_the_python_client_runs_alone(tmp_path: Path) -> None:
    """Copied somewhere else, in an interpreter that finds no packages."""
    shutil.copy(Path(__file__).parents[3] / "src/curador/local/devices/curador_device.py", tmp_path)
    (tmp_path / "task.json").write_text(json.dumps(document(TASK)))
    code = (
        "import json, sys; sys.path.insert(0, '.'); import curador_device as c;"
        "print(json.dumps(c.message(c.read_task(json.load(open('task.json'))), 'tea')));"
        "assert 'numpy' not in sys.modules and 'curador' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    read_message(TASK, json.loads(done.stdout))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("run.cjs", 'const c = require("./curador_device.js");'),
        ("run.mjs", 'import "./curador_device.js"; const c = globalThis.curador;'),
        ("page.cjs", 'require("node:vm").runInThisContext(TEXT); const c = curador;'),
    ],
)
def test_the_javascript_client_runs_alone(name: str, code: str, tmp_path: Path) -> None:
    """Required, imported as a module, and as a script of a page is."""
    (tmp_path / "curador_device.js").write_text(JS)
    begin = "" if name.endswith("mjs") else 'globalThis.crypto ??= require("node:crypto").webcrypto;\n'
    begin = begin or 'import { webcrypto } from "node:crypto"; globalThis.crypto ??= webcrypto;\n'
    code = code.replace("TEXT", json.dumps(JS))
    end = f"\nconsole.log(JSON.stringify(c.message(c.readTask({json.dumps(document(TASK))}), 'tea')));"
    (tmp_path / name).write_text(begin + code + end)
    done = subprocess.run(["node", name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read_message(TASK, json.loads(done.stdout))


def test_without_randomness_nothing_is_sent(tmp_path: Path) -> None:
    (tmp_path / "curador_device.js").write_text(JS)
    code = (
        'const c = require("./curador_device.js"); Object.defineProperty(globalThis, "crypto", { value: undefined });'
        f"try {{ c.message(c.readTask({json.dumps(document(TASK))}), 'tea'); }} catch (e) {{ console.log(e.message); }}"
    )
    done = subprocess.run(["node", "-e", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "crypto.getRandomValues is missing here."


def test_sources_are_where_they_are_said_to_be() -> None:
    folder = Path(__file__).parents[3] / "src/curador/local/devices"
    assert {file.name for file in folder.glob("curador_device.*")} == set(FILES.values())
    with pytest.raises(InvalidParameter):
        source("cobol")


def test_both_files_are_packed(tmp_path: Path) -> None:
    """Into the wheel that people install."""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [wheel] = tmp_path.glob("*.whl")
    listed = subprocess.run(
        [sys.executable, "-m", "zipfile", "-l", str(wheel)], capture_output=True, text=True, check=True
    )
    for name in FILES.values():
        assert f"curador/local/devices/{name}" in listed.stdout
