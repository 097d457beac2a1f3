"""The page that says how to ask people is followed to the letter: its commands, its script and its web page."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "ask-people.md").read_text()
# What a browser has and Node has not.
BROWSER = """
globalThis.crypto ??= require("node:crypto").webcrypto;
const { readFileSync } = require("node:fs");
const kept = {}, sent = [];
globalThis.localStorage = { getItem: (name) => kept[name] ?? null, setItem: (name, x) => { kept[name] = x; } };
Object.defineProperty(globalThis, "navigator", { value: { locks: { request: (name, run) => run() } } });
globalThis.fetch = async (address, options) => {
  if (options) sent.push(options.body);
  return { json: async () => JSON.parse(readFileSync(address)) };
};
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(command: list[str], folder: Path, **options: Any) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def typed(block: str, folder: Path) -> list[str]:
    program = str(Path(sys.executable).parent / "curador")
    return [run([program, *shlex.split(line)[1:]], folder) for line in block.splitlines()]


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A folder after the first block."""
    typed(blocks("sh")[0], tmp_path)
    (tmp_path / "answer.py").write_text(blocks("python")[0])
    return tmp_path


def from_script(folder: Path) -> str:
    sent = run([sys.executable, "answer.py", "tea"], folder)
    again = subprocess.run(
        [sys.executable, "answer.py", "tea"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "This task was answered." in again.stderr
    (folder / "device.json").unlink()  # another person
    return sent


def from_page(folder: Path) -> list[str]:
    [program] = [part for part in re.findall(r"<script>(.*?)</script>", blocks("html")[0], re.DOTALL) if part.strip()]
    end = """
    (async () => {
      await answer("tea");
      try { await answer("water"); } catch (error) { console.log(JSON.stringify([sent, error.message, kept.curador])); }
    })();"""
    (folder / "page.cjs").write_text(f'{BROWSER}\nrequire("./curador_device.js");\n{program}\n{end}')
    sent, why, state = json.loads(run(["node", "page.cjs"], folder))
    assert why == "This task was answered."
    assert json.loads(state)["answered"][0]["epsilon"] == "1"
    return list(sent)


def test_the_page_works(asked: Path) -> None:
    lines = [from_script(asked).strip(), *from_page(asked), "no message"]
    (asked / "messages.ndjson").write_text("\n".join(lines) + "\n")
    collected, estimated = typed(blocks("sh")[1], asked)
    assert re.search(r"accepted\s+2", collected)
    assert re.search(r"malformed\s+1", collected)
    assert "tea" in estimated
