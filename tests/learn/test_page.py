"""The how-to page runs as it is written."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "train-a-model.md"


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = "".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(blocks, {}, PAGE.name, str(PAGE), 0)
    report: list[str] = []
    failed, tried = doctest.DocTestRunner().run(test, out=report.append)
    assert tried > 15
    assert not failed, "".join(report)
