"""Every mistake that a form can have is said in both languages, and nothing is said that no form asks for."""

from __future__ import annotations

import re
from pathlib import Path

from curador.show.words.say import texts

TEXTS = texts("console/tables")
CONSOLE = Path(__file__).parents[3] / "src" / "curador" / "server" / "console"


def test_every_mistake_has_its_words() -> None:
    source = "".join(file.read_text() for file in [*CONSOLE.glob("declaring/*.py"), CONSOLE / "wizard.py"])
    coded = set(re.findall(r'Mistyped\(\s*"([a-z0-9-]+)"', source))
    coded |= set(re.findall(r'\.say\(\s*[^,()]+(?:\([^()]*\))?[^,()]*, "([a-z0-9-]+)"', source))
    assert {"not-number", "list-unclear", "windows-1252", "unit-unsaid"} <= coded
    assert {code for code in coded if f"wrong-{code}" not in TEXTS} == set()
    known = {code.removeprefix("wrong-") for code in TEXTS if code.startswith("wrong-")}
    made_up = {f"{place}-needed" for place in ("groups", "rows")} | {"low-too", "high-too"}
    refused = set(re.findall(r'^    "([a-z0-9-]+)": "[a-z]+",$', source, re.MULTILINE))
    said = set(re.findall(r'"([a-z0-9-]+)"', source))
    assert known - coded - made_up - refused - said == {"budget-epsilon", "budget-delta"}
