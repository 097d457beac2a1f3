"""The bench itself: what it measures, how it reports a missing or broken peer, and what it writes."""

from __future__ import annotations

import importlib
import re
import sys
import threading
import time
from pathlib import Path

import pytest

from bench import report, run, sides, worker
from bench.cases import Case, Code

FILES = sorted({file.stem for file in Path(run.__file__).parent.glob("*.py")} - run.MACHINERY)


@pytest.mark.parametrize("name", FILES)
def test_bench_file_is_well_formed(name: str) -> None:
    module = importlib.import_module(f"bench.{name}")
    assert module.TITLE
    if hasattr(module, "section"):  # it measures in its own way
        assert callable(module.section)
        return
    names = [case.name for case in module.CASES]
    assert len(set(names)) == len(names)
    for case in module.CASES:
        assert case.faster.keys() <= case.peers.keys()
        for peer, code in {"ours": case.ours, **case.peers}.items():
            compile(code.setup + code.run, name, "exec")
            assert peer == "ours" or (sides.PEERS / f"{peer}.txt").exists()


def test_measures_cpu_per_operation_and_survives_a_broken_case() -> None:
    codes = {
        "loop": Code("for _ in range(n): pass", "n = 100_000", per=100_000),
        "busy": Code("sum(range(5_000_000))"),
        "child": Code("subprocess.run([sys.executable, '-c', ''])", "import subprocess, sys", clock="children"),
        "broken": Code("1 / 0"),
    }
    seen = sides.measure(Path(sys.executable), codes)
    loop, child = seen["loop"], seen["child"]
    assert isinstance(loop, float)
    busy = seen["busy"]
    assert isinstance(busy, float)
    assert 0 < loop < busy / 1000, "one round of a loop, and five million"
    own = worker.CLOCKS["own"]
    begun = own()
    time.sleep(0.3)
    assert own() - begun < 0.3, "sleeping is not work"
    assert isinstance(child, float)
    assert child > 1000 * loop, "to start a program, and one round of a loop"
    assert seen["broken"] == "ZeroDivisionError: division by zero"


def test_a_failure_in_any_round_is_told() -> None:
    assert run.middle([3.0, 1.0, 2.0]) == 2.0
    assert run.middle([3.0, "no lamp", 2.0]) == "no lamp"


def test_a_peer_that_will_not_install_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "nowhere.txt").write_text("./there-is-no-such-package\n")
    monkeypatch.setattr(sides, "PEERS", tmp_path)
    monkeypatch.setattr(sides, "ROOT", tmp_path)
    case = Case("c", Code("pass"), {"nowhere": Code("pass")}, faster={"nowhere": 2})
    monkeypatch.setattr(run, "measure", lambda python, codes: dict.fromkeys(codes, 1.0))
    times, versions = run.bench([case], rounds=1)
    assert times[sides.OURS] == {"c": 1.0}
    assert str(times["nowhere"]["c"]).startswith("not installed")
    assert len(versions) == 1


def test_goals_are_judged() -> None:
    def verdict(ours: float | str, theirs: float | str) -> bool | None:
        case = Case("c", Code("pass"), {"p": Code("pass")}, faster={"p": 3})
        return report.lines([case], {"us": {"c": ours}, "p": {"c": theirs}}, "us")[0].met

    assert verdict(1.0, 3.0) is True
    assert verdict(1.0, 2.9) is False
    assert verdict("broken", 3.0) is False
    assert verdict(1.0, "not installed") is None
    limit = Case("c", Code("pass"), most=1e-5)
    assert report.lines([limit], {"us": {"c": 1.1e-5}}, "us")[0].met is False


def test_a_table_line_reads_well() -> None:
    line = report.Line("count", 3.2e-9, "numpy", 2e-8, "≥ 3×", True)
    assert (
        report.markdown("T", "how", [line]).splitlines()[-1]
        == "| count | 3.2 ns | numpy | 20 ns | 6.25× | ≥ 3× | met |"
    )


# ---- the page -----------------------------------------------------------------------------------------------------


def parts(page: str) -> dict[str, str]:
    """The sections by name, and what stands around them."""
    found = dict(re.findall(r"<!-- bench:(\w+) -->\n(.*?)\n<!-- /bench:\1 -->", page, re.DOTALL))
    return {**found, "": re.sub(r"(<!-- bench:(\w+) -->\n).*?\n(<!-- /bench:\2 -->)", r"\1\3", page, flags=re.DOTALL)}


def test_the_page_has_its_heading_and_a_table_of_every_bench_file() -> None:
    page = run.PAGE.read_text()
    assert page.startswith("# Benchmarks\n")
    for name in FILES:
        assert f"`make bench BENCH={name}`" in parts(page)[name]


def test_a_bench_replaces_its_own_part_and_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(before := run.PAGE.read_text())
    monkeypatch.setattr(run, "PAGE", page)
    monkeypatch.setattr(run, "interpreter", lambda side: Path(sys.executable))
    monkeypatch.setattr(run, "version", lambda side, python: side)
    monkeypatch.setattr(run, "measure", lambda python, codes: dict.fromkeys(codes, 1.0))
    monkeypatch.setattr(sys, "argv", ["run", "noise"])
    run.main()
    old, new = parts(before), parts(page.read_text())
    assert {name for name in old if old[name] != new[name]} == {"noise"}
    assert list(old) == list(new)
    assert "| numpy | 1 s | 1.00×" in new["noise"]
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_benches_that_end_at_once_lose_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n")

    def write(name: str) -> None:
        for i in range(20):
            report.write(page, name, f"{name} {i}")

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: text for name, text in parts(page.read_text()).items() if name} == {n: f"{n} 19" for n in "abcdefgh"}


def test_a_page_that_was_emptied_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("")
    with pytest.raises(ValueError, match="lost its heading"):
        report.write(tmp_path / "page.md", "noise", "fast")
    assert (tmp_path / "page.md").read_text() == ""


def test_a_busy_machine_is_told() -> None:
    assert "its load was 2.3" in report.conditions("make bench", 5, ["a 1"], 2.34)
    assert report.conditions("make bench", 5, ["a 1"], 0.2).endswith("rounds.")
