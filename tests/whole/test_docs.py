"""Documentation is tested: the README runs, citations resolve, public names show an example, errors are listed."""

from __future__ import annotations

import ast
import doctest
import inspect
import io
import re
import shlex
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import curador
from curador import errors

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
LEEME = (ROOT / "README.es.md").read_text()
KEY = r"[A-Z][A-Za-z]+\d\d[a-z]?"
PROSE = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SOURCES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").rglob("*.py")])


def blocks(page: str, *languages: str) -> list[str]:
    """The fenced blocks of a page that are written in one of these languages."""
    return re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


# --- the README runs


@pytest.mark.parametrize("block", blocks(README, "python") + blocks(LEEME, "python"))
def test_readme_python_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block with prompts must print what it says; one without must run; in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    if ">>>" not in block:
        exec(compile(block, "README.md", "exec"), {})
        return
    test = doctest.DocTestParser().get_doctest(block, {}, "README.md", "README.md", 0)
    report: list[str] = []
    failed, tried = doctest.DocTestRunner().run(test, out=report.append)
    assert tried
    assert not failed, "".join(report)


def commands(page: str) -> list[str]:
    """What a reader is told to type: the lines of shell blocks, without prompts and comments."""
    lines = "\n".join(blocks(page, "bash", "console", "sh")).splitlines()
    typed = (line.removeprefix("$ ").split("  #")[0].strip() for line in lines)
    return [line for line in typed if line and not line.startswith("#")]


@pytest.mark.parametrize("command", commands(README))
def test_readme_command_works(command: str, tmp_path: Path) -> None:
    """`curador …` is run; `make …` is only planned, since it is what runs this test; so is `pip install`."""
    program, *arguments = shlex.split(command)
    folder = tmp_path
    if program == "pip":
        assert arguments == ["install", "."]
        assert (ROOT / "pyproject.toml").is_file()
        return
    if program == "make":
        folder = ROOT
        run = ["make", "--dry-run", *arguments]
    else:
        assert program == "curador", f"no test knows how to run {program!r}"
        run = [str(Path(sys.executable).parent / "curador"), *arguments]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_readme_opens_with_the_two_commands() -> None:
    assert commands(README)[:2] == ["make", "make test"]


def test_both_readmes_say_the_same_commands() -> None:
    assert commands(LEEME) == commands(README)


@pytest.mark.parametrize("page", ["README.md", "README.es.md", "docs/index.md", "docs/es/index.md"])
def test_pages_of_the_install_name_the_declared_pythons_and_systems(page: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [one.rpartition(" :: ")[2] for one in project["classifiers"]]
    assert set(declared) >= {project["requires-python"].removeprefix(">="), "Linux", "MacOS"}
    [line] = [line for line in (ROOT / page).read_text().splitlines() if "Windows" in line]
    assert all(one.casefold() in line.casefold() for one in declared)


def test_readme_leads_to_the_same_pages_in_both_languages() -> None:
    table = re.compile(r"^\|.*\|$", re.MULTILINE)
    links = [
        [set(re.findall(r"\]\((docs/how-to/[^)]+)\)", row)) for row in table.findall(page) if "docs/how-to" in row]
        for page in (README, LEEME)
    ]
    assert len(links[0]) >= 6
    assert links[0] == links[1]


def test_links_inside_the_repository_resolve() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PROSE
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_architecture_page_shows_the_rooms_there_are() -> None:
    (tree,) = (b for b in blocks((ROOT / "ARCHITECTURE.md").read_text(), "") if b.startswith("src/curador/\n"))
    shown = dict(re.findall(r"^[├└]─ ([\w.]+)/?(?: +(.*))?$", tree, re.MULTILINE))
    there = {path.name for path in (ROOT / "src" / "curador").iterdir()} - {"__pycache__", "__init__.pyi"}
    assert {name for name, what in shown.items() if not what.startswith("later")} == there


def test_extras_that_pages_name_are_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    pages = [page.read_text() for page in PROSE]
    named = {name for page in pages for names in re.findall(r"'\.\[([\w,]+)\]'", page) for name in names.split(",")}
    assert len(named) >= 6
    assert named <= set(extras)


def test_nobody_is_sent_to_an_index_that_does_not_have_curador() -> None:
    """`pip install 'curador[learn]'` finds nothing, or what somebody else put there under that name."""
    wrong = re.compile(r"pip install (?:-\S+ )*[\"']?curador\b|\bcurador\[[\w,]+\]")
    others = [file for room in ("deploy", "examples") for file in (ROOT / room).rglob("*") if file.is_file()]
    texts = {
        file: file.read_bytes().decode(errors="replace") for file in [*PROSE, *others, *(ROOT / "src").rglob("*.py")]
    }
    assert [str(file.relative_to(ROOT)) for file, text in texts.items() if wrong.search(text)] == []
    assert all(wrong.search(text) for text in ("pip install curador", "pip install 'curador[learn]'", "curador[plots]"))


# --- citations resolve


def cited(text: str) -> set[str]:
    """Keys inside brackets that open with one: ``[BS16]``, ``[KOV15 Thm 3.3, MV16]``."""
    return {key for group in re.findall(rf"\[({KEY}\b[^\[\]]*)\]", text) for key in re.findall(rf"\b{KEY}\b", group)}


def spoken(source: str) -> Iterator[str]:
    """The strings and comments of a Python file; its code may index with what looks like a key."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def entries() -> dict[str, str]:
    """The bibliography by key."""
    found = re.findall(r"^@\w+\{(\S+),\n(.*?)^\}$", (ROOT / "docs" / "references.bib").read_text(), re.M | re.S)
    assert len(found) == len(dict(found)), "a key stands twice in docs/references.bib"
    return dict(found)


def test_every_citation_resolves() -> None:
    known, missing = entries().keys(), set()
    for file in [*PROSE, *SOURCES]:
        text = file.read_text()
        if file == Path(__file__) or cited(text) <= known:  # what a string or a comment cites stands in the text
            continue
        texts = [text] if file.suffix == ".md" else spoken(text)
        missing |= {f"{file.relative_to(ROOT)}: [{key}]" for text in texts for key in cited(text) - known}
    assert sorted(missing) == []


def test_every_reference_is_complete() -> None:
    needed = ("author", "title", "year")
    assert [
        key for key, body in entries().items() if any(not re.search(rf"^  {f} +=", body, re.M) for f in needed)
    ] == []
    assert [key for key in entries() if not re.fullmatch(KEY, key)] == []
    assert list(entries()) == sorted(entries())


def test_citations_are_seen() -> None:
    assert cited("as in [KOV15 Thm 3.3 at its corners,\nMV16 between], [Smith11] and [DR14, Theorem A.1]") == {
        "KOV15",
        "MV16",
        "Smith11",
        "DR14",
    }
    assert cited("a [link](https://example.org), [1, 2], [RFC], x[i]") == set()
    assert [set().union(*map(cited, spoken("x = table[AB12]  # [CD34]\n'[EF56]'")))] == [{"CD34", "EF56"}]


# --- public names show an example


PAGES = [README, *((ROOT / "docs" / page).read_text() for page in ("how-to/first-query.md", "reference/errors.md"))]
"""Pages whose every block of Python is run as a test."""
USED = {name for page in PAGES for block in blocks(page, "python") for name in re.findall(r"\bcu\.(\w+)", block)}


MADE = {str(getattr(method, "__annotations__", {}).get("return")) for method in vars(curador.Curator).values()}
"""The types of what only a curator makes: a plan, a batch, a publication, a stream."""


@pytest.mark.parametrize("name", curador.__all__)
def test_public_name_shows_an_example(name: str) -> None:
    """In its docstring, or, where that could only repeat its name, in a page that is run."""
    thing = getattr(curador, name)
    if inspect.ismodule(thing) or isinstance(thing, str):  # a room, or __version__
        return
    assert inspect.isclass(thing) or callable(thing), "public names are functions, classes or rooms"
    assert (thing.__doc__ or "").strip(), f"{name} needs a docstring"
    if name in vars(errors) or getattr(thing, "_is_protocol", False) or name in MADE:
        return  # the page of errors lists when each is raised; what a curator makes is shown where it makes it
    assert ">>>" in (thing.__doc__ or "") or name in USED, f"{name} needs an example"


def test_pages_use_public_names_only() -> None:
    assert set(curador.__all__) >= USED
    shown = [line for page in PAGES for block in blocks(page, "python") for line in block.splitlines()]
    # The local room is public, and a traceback names an error's module.
    assert [line for line in shown if re.search(r"\bcurador\.(?!local import |errors\.\w+: )", line)] == []


# --- errors are listed


def refusals() -> list[str]:
    return [name for name, thing in vars(errors).items() if inspect.isclass(thing) and issubclass(thing, Exception)]


def test_every_error_is_documented_and_no_other() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(refusals())


def test_the_codes_of_refusals_that_are_documented_are_raised() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    codes = {
        code
        for row in re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|", page, re.M)
        for code in row.strip("`").split("`, `")
    }
    raised = set(
        re.findall(r'"([a-z]+(?:-[a-z]+)+)"', "".join(file.read_text() for file in (ROOT / "src").rglob("*.py")))
    )
    assert len(codes) > 5
    assert codes <= raised


def test_the_page_of_errors_runs() -> None:
    (block,) = blocks((ROOT / "docs" / "reference" / "errors.md").read_text(), "python")
    test = doctest.DocTestParser().get_doctest(block, {}, "errors.md", "errors.md", 0)
    assert not doctest.DocTestRunner().run(test).failed


# --- pages name tests that are there


def test_pages_name_tests_that_are_there() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    named = {found for page in pages for found in re.findall(r"\btests/[\w/]+\.py\b", page.read_text())}
    assert len(named) > 10
    assert {path for path in named if not (ROOT / path).is_file()} == set()


def test_every_finding_names_tests_that_are_there() -> None:
    rows = [line for line in (ROOT / "docs" / "audit-findings.md").read_text().splitlines() if line.startswith("| ")]
    named = {row: set(re.findall(r"\btest_\w+", row)) for row in rows if "held by" not in row}
    assert len(named) > 30
    assert all(named.values())
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"\bdef (test_\w+)", path.read_text())
    }
    assert set().union(*named.values()) <= there
