"""The tables of docs/reference/command-line.md, made of the commands: ``python -m curador.cli.reference PAGE``.

Which options a command has, how they are spelled, in which order and what they are by default comes from the commands.
What stands in the last column is the page's own, as its other prose is; an option that is new begins with its help.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer.main

from curador.cli.app import app

HEAD = "| option | by default | |\n|---|---|---|\n"
ALIASES = {"curador sql"}
"""Commands that are another name of one, and have its options."""

_SECTION = re.compile(r"^## (curador [\w -]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"^\| option \|.*\n(?:\|.*\n)+", re.MULTILINE)
_ROW = re.compile(r"^\| `([^`]+)`[^|]*\|(?:.*(?<!\\)\|)? (.*) \|$", re.MULTILINE)


def commands(group: Any = None, path: str = "curador") -> Iterator[tuple[str, Any]]:
    """Every command by all its words."""
    whole: Any = typer.main.get_command(app) if group is None else group
    for name, command in whole.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def page(text: str) -> str:
    """A page with its tables made anew; a command that it has no section for gets one at its end."""
    known = dict(commands())
    there = {name for name, _ in _SECTION.findall(text)}
    made = _SECTION.sub(lambda found: _section(found[1], found[2], known), text)
    missing = [f"\n## {name}\n\n{_told(known[name])}\n\n{HEAD}" for name in known if name not in there]
    return page(made.rstrip() + "\n" + "".join(missing)) if missing else made


def _section(name: str, body: str, known: Mapping[str, Any]) -> str:
    if name not in known or name in ALIASES:
        return f"## {name}\n{body}"
    found = _TABLE.search(body)
    texts = dict(_ROW.findall(found[0])) if found else {}
    table = HEAD + "".join(f"| {_spelled(p)} | {_default(p)} | {_text(p, texts)} |\n" for p in _options(known[name]))
    if found is None:
        return f"## {name}\n{body.rstrip()}\n\n{table}\n"
    return f"## {name}\n{body[: found.start()]}{table}{body[found.end() :]}"


def _options(command: Any) -> list[Any]:
    """What a command takes, arguments first, without its help."""
    shown = [p for p in command.params if p.name != "help" and not p.hidden]
    return sorted(shown, key=lambda p: p.param_type_name != "argument")


def _name(parameter: Any) -> str:
    return str(parameter.metavar if parameter.param_type_name == "argument" else parameter.opts[0])


def _spelled(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_name(parameter)}`"
    return ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])


def _default(parameter: Any) -> str:
    """What it is unless given; blank where that is nothing, or is said in words."""
    value = parameter.default
    if callable(value) or value is None or value is False or value == [] or value == () or not str(value):
        return ""
    if value is True:
        return f"`{parameter.opts[0]}`"
    return f"`{getattr(value, 'value', value)}`"


def _text(parameter: Any, texts: Mapping[str, str]) -> str:
    told = parameter.help or ""
    begun = told[:1].lower() + told[1:].removesuffix(".").replace("|", "\\|")
    return texts.get(_name(parameter), begun)


def _told(command: Any) -> str:
    return " ".join((command.help or "").split("\b")[0].split())


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(page(file.read_text("utf-8")), "utf-8")
