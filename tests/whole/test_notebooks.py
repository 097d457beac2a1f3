"""The course's exercises and homework run as they stand, in both languages, and draw the pictures that they show."""

from __future__ import annotations

import re
import runpy
import subprocess
from collections.abc import Callable
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "docs" / "course" / "notebooks"
LANGUAGES = ("en", "es")
EXERCISES = tuple(f"exercise-{number}" for number in range(1, 6))
run: Callable[[Path, Path], Path] = runpy.run_path(str(ROOT / "examples" / "course_notebooks.py"))["run"]


def check(notebook: Path, folder: Path) -> None:
    """It runs, draws exactly the pictures it shows, and those are kept beside it."""
    drawn = {f"figures/{path.name}" for path in run(notebook, folder).iterdir()}
    assert drawn == set(re.findall(r"^!\[[^\]]+\]\((figures/[^)]+)\)$", notebook.read_text(), re.MULTILINE))
    assert all((notebook.parent / picture).stat().st_size < 100_000 for picture in drawn)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", EXERCISES)
def test_exercise_runs(language: str, name: str, tmp_path: Path) -> None:
    check(NOTEBOOKS / language / f"{name}.md", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_homework_runs(language: str, tmp_path: Path) -> None:
    if not (ROOT / "data" / "adult_data.csv").is_file():
        pytest.skip("Adult is not here; run `make data`")
    check(NOTEBOOKS / language / "homework.md", tmp_path)


def test_running_a_notebook_where_it_stands_changes_no_file_of_the_repository(tmp_path: Path) -> None:
    """Its pictures once fell on those that are kept, and its tables beside it."""
    wrote = re.compile(r"(?:savefig|open|Path)\(\"([^\"]+)\"")
    files = {
        f"{path.parent.relative_to(ROOT).as_posix()}/{name}"
        for path in NOTEBOOKS.rglob("*.md")
        for cell in jupytext.read(path).cells
        if cell.cell_type == "code"
        for name in wrote.findall(cell.source)
        if Path(name).suffix
    }
    assert any(name.endswith(".svg") for name in files)
    asked = [*sorted(files), "docs/course/notebooks/en/exercise-1.ipynb"]
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text((ROOT / ".gitignore").read_text())
    command = ["git", "-C", str(tmp_path), "check-ignore", "--stdin"]
    found = subprocess.run(command, input="\n".join(asked), capture_output=True, text=True, check=False)
    assert sorted(set(asked) - set(found.stdout.splitlines())) == []


def test_there_are_no_others() -> None:
    assert {path.relative_to(NOTEBOOKS).as_posix() for path in NOTEBOOKS.rglob("*.md")} == {
        f"{language}/{name}.md" for language in LANGUAGES for name in (*EXERCISES, "homework")
    }


@pytest.mark.parametrize("name", [*EXERCISES, "homework"])
def test_both_languages_have_the_same_cells(name: str) -> None:
    """The same cells, and in each cell of code the same numbers."""
    english, spanish = (jupytext.read(NOTEBOOKS / language / f"{name}.md").cells for language in LANGUAGES)
    assert [cell.cell_type for cell in english] == [cell.cell_type for cell in spanish]
    code = ([cell.source for cell in cells if cell.cell_type == "code"] for cells in (english, spanish))
    assert [re.findall(r"\d[\d_.]*", re.sub(r"\".*?\"", "", ours)) for ours in next(code)] == [
        re.findall(r"\d[\d_.]*", re.sub(r"\".*?\"", "", theirs)) for theirs in next(code)
    ]
