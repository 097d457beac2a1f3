"""The course runs: every block of every page, in both languages; page.py says how a page is written."""

from __future__ import annotations

import doctest
import re
import shlex
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from curador.cli.app import app
from tests.course.page import COURSE, LANGUAGES, LIST, Block, Page, anchors, dead_links, pages, slug, unfinished

PAGES = pages()
NAMES = [file.relative_to(COURSE).with_suffix("").as_posix() for file in PAGES]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_ONLY_FIRST_FAILURE


def run(page: Page) -> None:
    """Every block in order, in the folder one stands in, as a reader who types them one after the other."""
    names: dict[str, object] = {"__name__": "__main__"}
    for block in page.blocks:
        if block.language == "python" and ">>>" in block.text:
            check_session(page, block, names)
        elif block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(page.file), "exec"), names)
        elif block.language == "console":
            run_commands(page, block)


def check_session(page: Page, block: Block, names: dict[str, object]) -> None:
    where = str(page.file)
    test = doctest.DocTestParser().get_doctest(block.text, names, page.file.name, where, block.line - 1)
    test.globs = names  # the parser copies them, and the next block needs what this one names
    report: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    assert tried
    assert not failed, "".join(report)


def run_commands(page: Page, block: Block) -> None:
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        if line.startswith("$ curador "):
            done = CliRunner().invoke(app, shlex.split(line.removeprefix("$ curador "), comments=True))
            assert done.exit_code == 0, f"{page.file}:{number}: {line}\n{done.output}"


@pytest.mark.parametrize("file", PAGES, ids=NAMES)
def test_every_block_of_a_page_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a page may show what the product warns of
        run(Page.read(file))


@pytest.mark.parametrize("file", PAGES, ids=NAMES)
def test_a_page_is_whole(file: Path) -> None:
    page = Page.read(file)
    assert unfinished(page) == []
    assert dead_links(page) == []


@pytest.mark.parametrize("file", PAGES, ids=NAMES)
def test_a_page_shows_the_figures_of_its_language(file: Path) -> None:
    own = file.parent.name
    shown = [target for picture, _, target in Page.read(file).links if picture]
    assert [target for target in shown if "figures/" in target and f"figures/{own}/" not in target] == []


def test_no_page_is_unknown() -> None:
    assert {file.stem for file in PAGES} <= set(LIST["pages"])


def test_the_teachers_page_lists_every_page_in_both_languages() -> None:
    listed = (COURSE.parent / "how-to" / "teachers-first-hour.md").read_text()
    every = [f"../course/{language}/{page}.md" for page in LIST["pages"] for language in LANGUAGES]
    assert [file for file in every if f"({file})" not in listed] == []


def test_the_course_is_as_complete_as_its_list_says() -> None:
    """Once all are there, the list has to say so; from then on a missing page fails."""
    missing = [f"{lang}/{name}.md" for lang in LANGUAGES for name in LIST["pages"] if f"{lang}/{name}" not in NAMES]
    assert LIST["complete"] == (not missing), f"complete = {LIST['complete']} in docs/course/pages.toml, and {missing=}"


@pytest.mark.parametrize("file", [*PAGES, *COURSE.glob("notebooks/*/exercise-3.md")], ids=str)
def test_noise_for_a_mean_says_its_neighbours(file: Path) -> None:
    """A mean over n people moves by B/n only where a person is replaced; the default is add-remove."""
    for block in Page.read(file).blocks:
        code = re.sub(r"^(?:>>>|\.\.\.) ?", "", block.text, flags=re.MULTILINE)
        for call in re.findall(r"\bLaplace\(.*", code if block.language == "python" else ""):
            if re.search(r"moved|sensitivity\.mean|len\((?:people|personas)\)|Laplace\(20, 1", call):
                assert 'neighbors="replace"' in call


# ---- the checks see what is wrong

WHOLE = """# A title

Text with a [link](12-composition.md).

```python
x = 2
```

```python
>>> x + 1
3
```

## Questions

1. Why?
2. How?
3. When?

## Answers

1. So.
2. Thus.
3. Then.
"""


def page(text: str) -> Page:
    return Page(COURSE / "en" / "01-anonymisation.md", text)


def test_a_whole_page_passes() -> None:
    assert unfinished(page(WHOLE)) == []
    run(page(WHOLE))
    boxed = WHOLE.split("## Answers", maxsplit=1)[0].replace(
        "?\n", "?\n\n   <details><summary>Answer</summary>So.</details>\n\n"
    )
    assert unfinished(page(boxed)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# A title\n", ""),
        ("Text", "# Another\n\nText"),
        ("3. When?\n", ""),
        ("3. When?", "3. When?\n4. Where?"),
        ("## Questions", "## Exercises"),
        ("3. Then.\n", ""),
        ("## Answers", "More:"),
    ],
)
def test_an_unfinished_page_is_seen(old: str, new: str) -> None:
    assert len(unfinished(page(WHOLE.replace(old, new)))) == 1


@pytest.mark.parametrize(("old", "new"), [("3\n```", "4\n```"), ("x = 2", "x = y"), ("x + 1\n3", "y\n3")])
def test_a_block_that_does_not_run_is_seen(old: str, new: str) -> None:
    with pytest.raises((AssertionError, NameError)):
        run(page(WHOLE.replace(old, new)))


def test_a_command_that_fails_is_seen() -> None:
    run(page("```console\n$ curador --help\n```\n"))
    with pytest.raises(AssertionError, match=r"01-anonymisation\.md:2: \$ curador nonsense"):
        run(page("```console\n$ curador nonsense\n```\n"))


@pytest.mark.parametrize(
    "text",
    [
        "[a](nowhere.md)",
        "![a](../figures/en/nowhere.svg)",
        "![](../../benchmarks.md)",
        "[a](../map.md#nowhere)",
        "[a](#nowhere)",
        "[a](../../../../elsewhere)",
    ],
)
def test_a_dead_link_is_seen(text: str) -> None:
    assert len(dead_links(page(text))) == 1


def test_what_is_only_shown_is_no_link() -> None:
    assert dead_links(page("`[a](nowhere.md)`\n\n```text\n[a](nowhere.md)\n```\n[a](https://example.org)")) == []


def test_anchors_are_those_of_headings() -> None:
    assert slug("The *truncated* Laplace: a `trap`, ε ≥ 10") == "the-truncated-laplace-a-trap-ε--10"
    assert slug("¿Qué protege?") == "qué-protege"
    assert "the-course-where-each-statement-lives" in anchors(COURSE / "map.md")
