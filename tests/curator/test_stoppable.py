"""Planning that may be stopped loads nothing and starts no thread while it may be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys, threading
import curador as cu
from curador.curator.stoppable import ready_to_stop

people = cu.Table("people.csv", columns={"town": "text", "age": {"type": "integer", "bounds": [0, 99]}})
places = cu.Table("places.csv", public=True, columns={"town": "text", "region": "text"})
curator = cu.Curator({"people": people, "places": places}, budget=cu.ApproxDP(5, 1e-5))
ready_to_stop()
before, threads = set(sys.modules), threading.active_count()
n = "SELECT COUNT(*) AS n FROM people"
curator.explain(n, rho="0.01")
curator.explain(n, epsilon="0.1", delta="1e-6", noise="gaussian")
curator.explain(n, accuracy=cu.within(100))
str(curator.explain(n, epsilon="0.1", language="es"))
str(curator.explain("SELECT town, COUNT(*) AS n FROM people GROUP BY town", epsilon="0.1", delta="1e-6"))
joined = "SELECT p.region, COUNT(*) AS n FROM people JOIN places p ON people.town = p.town GROUP BY p.region"
str(curator.explain(joined, epsilon="0.1"))
str(curator.batch({"n": n, "m": "SELECT MEDIAN(age) AS m FROM people"}, epsilon="0.1"))
str(curator.explain("SELECT STDDEV(age) AS d, CORR(age, age * 2) AS c FROM people", epsilon="0.1"))
curator.how_many(n, epsilon="0.1")
print(sorted(set(sys.modules) - before), threading.active_count() - threads)
"""


def test_what_planning_needs_is_there_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("town,age\nLugo,30\n")
    (tmp_path / "places.csv").write_text("town,region\nLugo,Galicia\n")
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True
    )
    assert found.stdout == "[] 0\n"
