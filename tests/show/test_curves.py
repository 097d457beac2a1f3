"""Figures show the numbers they were given, say what they are, and depend on no global state."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from curador.accounting import account
from curador.accounting.course import laplace_density
from curador.accounting.events import GaussianNoise, LaplaceNoise, RandomizedAnswer
from curador.accounting.rules.renyi import renyi_curve
from curador.accounting.rules.tradeoffs import Tradeoff, tradeoff
from curador.errors import CuradorError, InvalidParameter
from curador.privacy import ApproxDP, RenyiDP
from curador.show.curves import COLOURS, WORDS, plot_densities, plot_profile, plot_renyi, plot_tradeoff, save

LAPLACE, GAUSS = LaplaceNoise(1, 1), GaussianNoise(2, 1)  # type: ignore[arg-type]


def drawn(figure: Figure) -> dict[str, tuple[list[float], list[float]]]:
    """The lines of a figure by the label they carry."""
    (axes,) = figure.axes
    lines = {str(z.get_gid()): np.asarray(z.get_xydata()) for z in axes.lines if z.get_gid()}
    return {label: (points[:, 0].tolist(), points[:, 1].tolist()) for label, points in lines.items()}


def written(figure: Figure) -> dict[str, Any]:
    (axes,) = figure.axes
    return {text.get_text(): text for text in axes.texts}


# ---- the numbers -------------------------------------------------------------------------------------------------


def test_a_profile_shows_its_curves_on_a_logarithmic_axis() -> None:
    curve = account.profile(LAPLACE, [0, 0.25, 0.5, 1])
    figure = plot_profile({"Laplace": curve, "flat": (np.array([0.0, 2.0]), np.array([1e-3, 1e-3]))})
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    assert axes.get_ylim() == (1e-12, 1.0)
    assert axes.get_xlim() == (0.0, 2.0)
    x, y = drawn(figure)["Laplace"]
    assert x == [0, 0.25, 0.5, 1]
    assert y[:3] == list(curve.lines[0][1][:3])
    assert 0 < y[3] < 1e-12  # 0 is below every floor
    assert drawn(figure)["flat"] == ([0.0, 2.0], [1e-3, 1e-3])


def test_a_profile_ends_where_its_last_curve_leaves() -> None:
    falling = ([0, 1, 2, 3, 4], [0.1, 1e-3, 1e-9, 1e-20, 1e-40])
    assert plot_profile({"a": falling}).axes[0].get_xlim() == (0.0, 3.0)
    assert plot_profile({"a": falling}, least=1e-5).axes[0].get_xlim() == (0.0, 2.0)
    assert plot_profile({"a": falling}, least=1e-50).axes[0].get_xlim() == (0.0, 4.0)


def test_a_trade_off_shows_both_errors_and_the_diagonal() -> None:
    pure = tradeoff(1)
    figure = plot_tradeoff({"pure": pure, "Gaussian": account.tradeoff(GAUSS).curve()})
    (axes,) = figure.axes
    assert axes.get_xlim() == axes.get_ylim() == (0.0, 1.0)
    assert axes.get_aspect() == 1
    assert list(zip(*drawn(figure)["pure"], strict=True)) == list(pure.corners())
    assert len(drawn(figure)["Gaussian"][0]) == 201
    (diagonal,) = (z for z in axes.lines if not z.get_gid())
    assert np.array_equal(diagonal.get_xydata(), [[0, 1], [1, 0]])


def test_a_renyi_curve_shows_every_finite_order() -> None:
    curve = RenyiDP({2: 1, 4: 2, 8: 4, 16: math.inf, math.inf: math.inf})
    assert drawn(plot_renyi({"σ = 1": curve})) == {"σ = 1": ([2, 4, 8], [1, 2, 4])}


@pytest.mark.parametrize(("last", "scale"), [(10, "linear"), (64, "log")])
def test_many_orders_get_a_logarithmic_axis(last: int, scale: str) -> None:
    figure = plot_renyi({"": renyi_curve(LAPLACE, [1.5, 2, last])})
    assert figure.axes[0].get_xscale() == scale
    figure.draw_without_rendering()
    shown = [t.get_text() for t in figure.axes[0].get_xticklabels(which="both") if t.get_text()]
    assert shown
    assert all("10" not in t or t == "10" for t in shown)  # 8, 16, 32, not powers


def test_several_lines_of_one_curve_are_told_apart() -> None:
    figure = plot_tradeoff({"game": account.decision(LAPLACE).curve(5)})
    assert list(drawn(figure)) == ["game, with the release", "game, guessing"]


# ---- the words ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plot", "curve", "x", "y"),
    [
        (plot_profile, ([0, 1], [0.1, 0.01]), "epsilon", "delta"),
        (plot_tradeoff, ([0, 1], [1, 0]), "fpr", "fnr"),
        (plot_renyi, ([2, 3], [1, 2]), "order", "divergence"),
        (plot_densities, ([-1, 1], [0.3, 0.4]), "value", "density"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "es"])
def test_axes_speak_both_languages(plot: Callable[..., Figure], curve: Any, x: str, y: str, lang: str) -> None:
    figure = plot({"one": curve}, lang=lang, title="Título")
    (axes,) = figure.axes
    assert axes.get_xlabel() == WORDS[lang][x]
    assert axes.get_ylabel() == WORDS[lang][y]
    assert axes.get_title(loc="left") == "Título"
    assert axes.get_legend() is None
    assert written(figure)["one"].get_color() == COLOURS[0]


def test_labels_are_words_and_not_formulas(tmp_path: Path) -> None:
    figure = plot_renyi({"$5 or $6_$": ([2, 3], [1, 2]), "": ([2, 3], [2, 3])}, title="$\\frac$")
    assert save(figure, tmp_path / "a.png").stat().st_size > 1000


def test_no_word_is_left_in_the_other_language() -> None:
    assert WORDS["en"].keys() == WORDS["es"].keys()
    same = {key for key in WORDS["en"] if WORDS["en"][key] == WORDS["es"][key]}
    assert same == {"delta"}


X = [x / 10 for x in range(-100, 101)]
CROWDED: dict[str, Callable[[], Figure]] = {
    "profile": lambda: plot_profile(
        {f"Laplace, ε = {k / 2}": account.profile(LaplaceNoise(2, k)) for k in range(1, 9)}  # type: ignore[arg-type]
    ),
    "tradeoff": lambda: plot_tradeoff({f"ε = {k / 2}": tradeoff(k / 2) for k in range(1, 9)}),
    "renyi": lambda: plot_renyi(
        {f"σ = {k}": renyi_curve(GaussianNoise(k, 1), [1.5, 2, 4, 8, 16]) for k in range(1, 9)}  # type: ignore[arg-type]
    ),
    "densities": lambda: plot_densities(
        {f"b = {b}": (X, [laplace_density(x, scale=b) for x in X]) for b in range(1, 9)},
    ),
    "long label": lambda: plot_renyi(
        {"randomised response with three answers": renyi_curve(RandomizedAnswer(3, 0.75), [2, 4])}  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("name", CROWDED)
def test_labels_stay_inside_and_do_not_cover_each_other(name: str) -> None:
    figure = CROWDED[name]()
    figure.draw_without_rendering()  # axis labels find their places
    boxes = {text: w.get_window_extent() for text, w in written(figure).items()}
    assert set(drawn(figure)) <= set(boxes)
    (axes,) = figure.axes
    for text in (axes.xaxis.label, axes.yaxis.label):
        boxes[text.get_text()] = text.get_window_extent()
    whole = figure.bbox
    for box in boxes.values():
        assert whole.x0 <= box.x0
        assert box.x1 <= whole.x1
        assert whole.y0 <= box.y0
        assert box.y1 <= whole.y1
    for (a, one), (b, two) in itertools.combinations(boxes.items(), 2):
        shared = one.intersection(one, two)
        assert shared is None or min(shared.width, shared.height) < 1.5, (a, b)


# ---- saving ------------------------------------------------------------------------------------------------------


def test_png_and_svg(tmp_path: Path) -> None:
    figure = plot_profile({"Laplace & Gauß": ([0, 1], [0.1, 0.01])}, lang="es")
    png = save(figure, tmp_path / "a.PNG").read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (1024, 672)
    root = ET.parse(save(figure, str(tmp_path / "a.svg"))).getroot()
    texts = {"".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Laplace & Gauß", WORDS["es"]["epsilon"]} <= texts


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_figure_gives_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for file in files:
        save(plot_tradeoff({"ε = 1": tradeoff(1)}), file)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("name", ["a.pdf", "a", "svg", "a.png.gz"])
def test_other_formats_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="PNG or SVG"):
        save(plot_renyi({"a": ([2, 3], [1, 2])}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


# ---- no state, no surprise ------------------------------------------------------------------------------------------


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_matplotlib_is_loaded_only_to_draw_and_pyplot_never() -> None:
    report = "print(*(m for m in ('matplotlib', 'matplotlib.pyplot') if m in sys.modules))"
    assert run(f"import sys, curador.show.curves; {report}") == ""
    draw = "from curador.show.curves import *; [plot_renyi({'a': ([2, 3], [1, 2])}) for _ in range(30)]"
    assert run(f"import sys; {draw}; {report}") == "matplotlib"


@pytest.mark.parametrize("call", [lambda: plot_profile({"a": ([0, 1], [0.1, 0.01])}), lambda: save(Figure(), "a.png")])
def test_without_matplotlib_the_fix_is_named(call: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(CuradorError, match="not installed") as refused:
        call()
    assert ".[plots]" in refused.value.fix


GOOD: Any = ([0, 1], [0.1, 0.01])


@pytest.mark.parametrize(
    "call",
    [
        lambda: plot_profile({}),
        lambda: plot_profile({str(i): GOOD for i in range(len(COLOURS) + 1)}),
        lambda: plot_profile({"a": GOOD}, lang="fr"),
        lambda: plot_profile({"a": GOOD}, least=0),
        lambda: plot_profile({"a": ([0, 1], [0, 0])}),
        lambda: plot_profile({"a": ([0, 1], [0.1, 1.1])}),
        lambda: plot_profile({"a": ([0, 1], [0.1, -0.1])}),
        lambda: plot_profile({"a": ([0, 1], [0.1, math.nan])}),
        lambda: plot_profile({"a": ([0, math.inf], [0.1, 0.01])}),
        lambda: plot_profile({"a": ([1, 0], [0.1, 0.01])}),
        lambda: plot_profile({"a": ([0, 1, 2], [0.1, 0.01])}),
        lambda: plot_profile({"a": ([0], [0.1])}),
        lambda: plot_profile({"a": 3}),  # type: ignore[dict-item]
        lambda: plot_profile({"a": (["x", "y"], [0.1, 0.2])}),
        lambda: plot_tradeoff({"a": ([0, 2], [1, 0])}),
        lambda: plot_tradeoff({"a": ([0, 1], [1, -0.5])}),
        lambda: plot_renyi({"a": ([0.5, 2], [1, 2])}),
        lambda: plot_renyi({"a": ([2, 3], [math.inf, math.inf])}),
        lambda: plot_renyi({"a": RenyiDP({math.inf: 1})}),
        lambda: plot_densities({"a": ([0, 1], [-1, 1])}),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidParameter):
        call()


def test_a_curve_with_one_point_of_promise_is_drawn() -> None:
    assert len(drawn(plot_tradeoff({"a": Tradeoff((ApproxDP(1, 0.1),))}))["a"][0]) >= 3
