"""How many files one question runs through, stage by stage: printed, so that the house does not widen unnoticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

QUESTION = """
import sys
from collections import Counter
import pyarrow
import curador as cu

columns = {"sex": {"type": "text", "keys": ["F", "M"]}, "hours": {"type": "integer", "bounds": [0, 999]}}
people = cu.Table(pyarrow.table({"sex": ["F", "M"] * 500, "hours": list(range(1000))}), columns=columns)

def question():
    curator = cu.Curator({"people": people}, budget=cu.PureDP(10))
    return curator.table("people").where("hours >= 10").group_by("sex").aggregate(n=cu.count(), h=cu.mean("hours"))

question().ask(epsilon=0.1)  # loads what is loaded when first used
asked, seen = question(), set()

def note(frame, event, argument):
    if event == "call" and "/curador/" in (file := frame.f_code.co_filename) and "site-packages" not in file:
        seen.add(file.rsplit("/curador/", 1)[1])

sys.setprofile(note)
asked.ask(epsilon=0.2)
sys.setprofile(None)
print(*sorted(seen), sep="\\n")
"""
WIDEST = 112


def test_the_files_of_one_question_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run([sys.executable, "-c", QUESTION], capture_output=True, text=True, check=True)
    files = done.stdout.split()
    stages: dict[str, int] = {}
    for file in files:
        stage = "/".join(Path(file).parts[:-1][:2]) or "root"
        stages[stage] = stages.get(stage, 0) + 1
    with capsys.disabled():
        shown = ", ".join(f"{stage} {n}" for stage, n in sorted(stages.items(), key=lambda item: -item[1]))
        print(f"\none question asked in Python touches {len(files)} files: {shown}")
    assert "query/plan/plan.py" in files  # it was really followed
    assert len(files) <= WIDEST
