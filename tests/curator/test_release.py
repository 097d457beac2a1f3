"""Releases: plain values that survive being stored, shown and put into frames."""

from __future__ import annotations

import io
import json
import math
import random
import re
from datetime import date
from typing import Any

import pytest

from curador.curator.releases.release import Release
from curador.errors import InvalidParameter
from curador.privacy import ZCDP, ApproxDP, Neighbors, PureDP
from curador.show.release import MOST_SHOWN


def made(**changes: Any) -> Release:
    return Release(
        **{
            "columns": {"day": (date(2020, 1, 31), None), "n": (12, -3), "m": (1.25, 40.0), "q": (7, 8)},
            "groups": ("day",),
            "intervals": {"n": ((10.0, 14.0), (-5.0, -1.0)), "m": ((1.0, 2.0), (30.0, 50.0))},
            "ranks": {"q": 12.5},
            "confidence": 0.95,
            "guarantee": ApproxDP(1, 1e-6),
            "charge": "7",
            "neighbors": Neighbors.REPLACE,
            "unit": "id",
            "question": {"table": "t"},
            "remarks": ({"code": "reason", "epsilon": "2", "limit": "1", "because": "agreed"},),
            **changes,
        }
    )


def test_a_release_reads_like_a_table() -> None:
    r = made()
    assert len(r) == 2
    assert r.outputs == ("n", "m", "q")
    assert r["n"] == (12, -3)
    assert list(r)[1] == {"day": None, "n": -3, "m": 40.0, "q": 8}
    assert r.interval("m", 1) == (30.0, 50.0)
    with pytest.raises(InvalidParameter, match="ranks"):
        r.interval("q")
    with pytest.raises(InvalidParameter, match="not noised"):
        r.interval("day")
    with pytest.raises(InvalidParameter, match="'pay'"):
        _ = r["pay"]
    with pytest.raises(InvalidParameter, match="not one number"):
        _ = r.value


def test_what_is_stored_is_read_back() -> None:
    r = made()
    text = r.to_json()
    assert Release.from_dict(json.loads(text)) == r
    assert Release.from_dict(json.loads(text)).to_json() == text
    for bad in ({}, {**r.to_dict(), "columns": 3}, {**r.to_dict(), "guarantee": {}}):
        with pytest.raises(InvalidParameter):
            Release.from_dict(bad)


def test_notes_are_kept_as_codes_and_read_in_a_language() -> None:
    r = made()
    (kept,) = r.to_dict()["notes"]
    assert kept == {**r.remarks[0], "text": r.notes[0]}
    assert r.notes == ("Epsilon 2 is above 1; the reason given: agreed",)
    spanish = made(language="es")
    assert spanish.remarks == r.remarks
    assert spanish.notes == ("Épsilon 2 está por encima de 1; motivo dado: agreed",)
    assert "intervalo del 95 %" in str(spanish)
    assert Release.from_dict(spanish.to_dict()) == spanish != r
    reworded = {**r.to_dict(), "notes": [{**kept, "text": "something else"}]}
    assert Release.from_dict(reworded) == r  # a text is made from its code, whatever was stored beside it


def test_a_release_cannot_be_changed() -> None:
    r = made()
    with pytest.raises(TypeError):
        r.columns["n"] = (1,)  # type: ignore[index]
    with pytest.raises(AttributeError):
        r.charge = "8"  # type: ignore[misc]


def test_frames_have_the_ends_of_intervals_beside_each_output() -> None:
    r = made(columns={"n": (12, -3), "n_lower": (1, 2)}, groups=(), intervals={"n": ((10.0, 14.0), (-5.0, -1.0))})
    assert list(r.flat()) == ["n", "n_lower_", "n_upper", "n_lower"]
    for frame in (r.to_arrow().to_pydict(), r.to_pandas().to_dict("list"), r.to_polars().to_dict(as_series=False)):
        assert frame["n"] == [12, -3]
        assert frame["n_lower_"] == [10.0, -5.0]
        assert frame["n_lower"] == [1, 2]


CUT = {"code": "rows-left-out", "unit": "id", "rows": 10, "groups": 6}


def test_what_was_cut_goes_wherever_numbers_go() -> None:
    r = made(remarks=(CUT,))
    said = "At most 10 rows of each 'id' in each of 6 groups count (contribution)."
    for shown in (str(r), r._repr_html_().replace("&#x27;", "'"), r.to_json()):
        assert said in shown
    assert r.to_pandas().attrs["curador"]["kept"] == "10 rows of each 'id' in each of 6 groups"
    assert said in r.to_pandas().attrs["curador"]["notes"][0]
    assert json.loads(r.to_arrow().schema.metadata[b"curador"])["kept"] == r.kept
    assert set(r.to_polars()["kept"]) == {r.kept}
    assert "kept" not in r.to_pandas().columns
    spanish = made(remarks=(CUT,), language="es")
    said = "Cuentan como mucho 10 filas de cada 'id' en cada uno de 6 grupos (contribution)."
    assert said in " ".join(str(spanish).split())
    assert spanish.kept == "10 filas de cada 'id' en cada uno de 6 grupos"


def test_nothing_is_said_where_nothing_can_be_cut() -> None:
    r = made()
    assert (r.kept, r.about["kept"]) == ("", "")
    assert "kept" not in r.flat()
    assert "cut" not in str(r)


def test_errors_in_ranks_stand_beside_quantiles() -> None:
    r = made(columns={"m": (3, 4)}, groups=(), intervals={}, ranks={"m": 12.5})
    assert r.flat() == {"m": (3, 4), "m_ranks": (12.5, 12.5)}


def test_it_says_what_is_promised() -> None:
    assert made().statement() == "epsilon 1, delta 1e-06 for everything of one 'id' replaced by another · charge 7"
    plain = made(guarantee=PureDP(0.5), unit=None, neighbors=Neighbors.ADD_REMOVE)
    assert plain.statement() == "epsilon 0.5 for one row added or removed · charge 7"
    assert made(guarantee=ZCDP(0.5)).statement().startswith("rho 0.5 for")


def test_text_shows_values_intervals_and_ranks() -> None:
    text = str(made())
    for said in ("2020-01-31", "NULL", "-3", "30 … 50", "± 12.5 ranks", "95 % interval", "charge 7"):
        assert said in text
    assert repr(made()) == text


def test_keys_cannot_write_html_or_markup() -> None:
    from rich.console import Console

    evil = "<script>x</script>[red]"
    r = made(columns={"k": (evil,), "n": (1,)}, groups=("k",), intervals={}, ranks={})
    page = r._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(r)
    assert evil in console.export_text()


def test_long_releases_are_cut_when_shown_but_not_when_stored() -> None:
    n = MOST_SHOWN + 10
    r = made(columns={"n": tuple(range(n))}, groups=(), intervals={}, ranks={})
    assert "… and 10 more rows" in str(r)
    assert "… and 10 more rows" in r._repr_html_()
    assert len(r.to_dict()["columns"]["n"]) == n


def test_an_empty_release_is_shown_too() -> None:
    r = made(columns={"k": (), "n": ()}, groups=("k",), intervals={"n": ()}, ranks={})
    assert len(r) == 0
    assert "charge 7" in str(r)
    assert "<table>" in r._repr_html_()
    assert Release.from_dict(r.to_dict()) == r


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (1234567, "1,234,567"),
        (0.5, "0.5"),
        (1e-9, "1e-09"),
        (123456.789, "123,457"),
        (-0.00123, "-0.00123"),
        (0.0, "0"),
    ],
)
def test_numbers_are_readable(x: float, text: str) -> None:
    shown = str(made(columns={"n": (x,)}, groups=(), intervals={}, ranks={}))
    assert shown.splitlines()[2] == text


def test_an_interval_without_ends_is_stored_shown_and_exported() -> None:
    """Where a denominator may be zero: null in JSON, infinite in frames, ∞ for people; a NULL has one, too."""
    ends = ((-math.inf, math.inf), (0.5, math.inf))
    r = Release({"y": (None, 0.75)}, (), {"y": ends}, {}, 0.95, PureDP(0.1), "7")
    data = json.loads(r.to_json())
    assert data["intervals"] == {"y": [[None, None], [0.5, None]]}
    assert Release.from_dict(data) == r
    assert Release.from_dict(data).interval("y", 1) == (0.5, math.inf)
    text = str(r).splitlines()
    assert text[2].split() == ["NULL", "-∞", "…", "∞"]
    assert text[3].split() == ["0.75", "0.5", "…", "∞"]
    assert "∞" in r._repr_html_()
    assert r.to_pandas()["y_upper"].tolist() == [math.inf, math.inf]
    assert r.to_arrow().to_pylist()[0] == {"y": None, "y_lower": -math.inf, "y_upper": math.inf}


def test_numbers_beyond_64_bits_are_exported_as_doubles() -> None:
    large = made(columns={**made().columns, "n": (2**63, -3)})
    assert large.to_arrow().column("n").to_pylist() == [2.0**63, -3.0]
    assert made().to_arrow().column("n").to_pylist() == [12, -3]


def test_a_printed_interval_holds_what_the_interval_holds() -> None:
    """Five digits, to the nearest, made a point of a narrow interval far from zero, which missed the truth."""
    draw = random.Random(7)
    for _ in range(3000):
        value = draw.choice([1, -1]) * 10 ** draw.uniform(-9, 17)
        width = 10 ** draw.uniform(-12, 4)
        low, high = value - draw.random() * width, value + draw.random() * width
        made = Release({"x": (value,)}, (), {"x": ((low, high),)}, {}, 0.95, PureDP(1), "1")
        shown = [line for line in str(made).splitlines() if "…" in line]
        x, a, b = (float(t.replace(",", "")) for t in re.findall(r"-?[\d,.]+(?:e[+-]?\d+)?", shown[0]))
        slack = 1e-5 * (high - low) + 1e-15 * abs(value)
        assert a - slack <= low <= high <= b + slack, (value, low, high, shown)
        assert b - a <= (high - low) * 1.05 + 1e-4 * abs(value), (value, low, high, shown)
        assert a - slack - (high - low) / 19 <= x <= b + slack + (high - low) / 19, (value, low, high, shown)


def test_intervals_as_people_read_them() -> None:
    def shown(value: float, low: float, high: float) -> str:
        text = str(Release({"x": (value,)}, (), {"x": ((low, high),)}, {}, 0.95, PureDP(1), "1"))
        return " ".join(text.splitlines()[2].split())

    assert shown(1976.6598, 1976.6411, 1976.6782) == "1,976.66 1,976.6411 … 1,976.6782"
    assert shown(100049.94, 100049.911, 100049.968) == "100,049.94 100,049.911 … 100,049.968"
    assert shown(5.76415, 1.0, 8.25) == "5.76415 1 … 8.25"
    assert shown(0.5, 0.30000000000000004, math.inf) == "0.5 0.3 … ∞"
