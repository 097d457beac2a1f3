"""Run the course's notebooks and draw the pictures they show, in docs/course/notebooks/<language>/figures.

    make data
    python examples/course_notebooks.py            all of them; or their names: exercise-1 homework

Open one as a notebook:  pip install jupytext notebook && jupytext --to ipynb docs/course/notebooks/en/exercise-1.md
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import jupytext
import matplotlib

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "docs" / "course" / "notebooks"


def run(notebook: Path, folder: Path) -> Path:
    """Run every cell of code in one namespace, in a folder that lies as the notebook does below data and examples.

    Returns the folder of its pictures: not the one of those that are kept, so that running a notebook changes nothing.
    """
    matplotlib.use("agg")
    here = folder / notebook.relative_to(ROOT).parent
    here.mkdir(parents=True)
    for shared in ("data", "examples"):
        (folder / shared).symlink_to(ROOT / shared)
    names: dict[str, object] = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(here)
    try:
        for number, cell in enumerate(jupytext.read(notebook).cells, 1):
            if cell.cell_type == "code":
                exec(compile(cell.source, f"{notebook.name}, cell {number}", "exec"), names)
    finally:
        os.chdir(before)
        matplotlib.pyplot.close("all")
    return here / "drawn"


def main(chosen: list[str]) -> None:
    matplotlib.rcParams["svg.hashsalt"] = "curador"  # names inside the file do not change from run to run
    for notebook in sorted(NOTEBOOKS.glob("*/*.md")):
        if chosen and notebook.stem not in chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for picture in run(notebook, Path(folder)).iterdir():
                kept = notebook.parent / "figures" / picture.name
                kept.parent.mkdir(exist_ok=True)
                kept.write_bytes(picture.read_bytes())
                print("drew", kept.relative_to(ROOT))


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("names", nargs="*")
    main(asked.parse_args().names)
