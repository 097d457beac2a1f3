"""The page of the command line has the options that the commands have, with their spellings and defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from curador.cli.reference import commands, page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"
TEXT = PAGE.read_text()


def test_the_page_is_up_to_date() -> None:
    assert page(TEXT) == TEXT, "python -m curador.cli.reference docs/reference/command-line.md"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| `--study`, `-s` | `study.toml` |", "| `--study` | `study.toml` |"),
        ("| `--confidence` | `0.95` |", "| `--confidence` | `0.9` |"),
        ("| `--last` | `1000` | how many of the newest charges |\n", ""),
        ("| `--all` |", "| `--everything` |"),
    ],
)
def test_a_table_that_is_wrong_is_made_anew(old: str, new: str) -> None:
    assert old in TEXT
    wrong = TEXT.replace(old, new, 1)
    assert page(wrong) != wrong
    assert old.rstrip(" |\n") in page(wrong)


def test_prose_is_kept() -> None:
    told = "how many of the newest charges"
    assert page(TEXT.replace(told, "how many \\| of them, `newest` first")).count(
        "how many \\| of them, `newest` first"
    )


def test_a_command_that_is_new_gets_its_section() -> None:
    start = TEXT.index("## curador history")
    without = TEXT[:start] + TEXT[TEXT.index("## ", start + 3) :]
    made = page(without)
    assert "## curador history\n\nShow the newest charges" in made
    assert "| `--last` | `1000` | how many of the newest charges |" in made
    assert page(made) == made
    assert "curador history" in dict(commands())
