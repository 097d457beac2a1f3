"""The demonstration: five statistics for one charge, and what to try next."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from curador.cli.options import Epsilon, Json, Language
from curador.cli.screen import bullet, console, emit, loss, loss_left, say, spoken, whole, words

if TYPE_CHECKING:
    from curador import Guarantee
    from curador.curator.releases.release import Release
    from curador.curator.study.demo import Demonstration

FOLDER = Path("curador-demo")


def demo(
    folder: Annotated[Path, typer.Option(help="Where to put its table, study, ledger and dashboard.")] = FOLDER,
    epsilon: Epsilon = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Release five statistics of 10,000 made-up salaries for one charge, of epsilon 1 by default.

    A second run is answered from the ledger, for free.

    Example: curador demo --epsilon 0.5 --folder half
    """
    from curador import PureDP
    from curador.accounting.meaning import decision, posterior
    from curador.curator.study.demo import run

    shown = run(folder, epsilon)
    guarantee = shown.publication.guarantee
    assert isinstance(guarantee, PureDP)  # the demonstration asks with epsilon
    said_in = "en" if as_json else spoken()
    sentences = [posterior(guarantee).sentence(said_in), decision(guarantee).sentence(said_in)]
    if as_json:
        emit(
            {
                "folder": str(folder),
                **shown.publication.to_dict(),
                "repeated": shown.publication.repeated,
                "truth": dict(shown.truth),
                "remaining": {shown.balance.scope: shown.balance.remaining.to_json()},
                "meaning": sentences,
            }
        )
        return
    _statistics(shown)
    _bars(shown.publication["histogram"])
    console.print(Text.assemble("\n", (words("conclude"), "bold"), f" ({loss(guarantee)})"))
    for sentence in sentences:
        bullet(sentence, indent=2, mark="•")
    _afterwards(shown, folder)


def _statistics(shown: Demonstration) -> None:
    found = shown.publication
    table = Table(title=Text(shown.board.title), title_justify="left")
    interval = words("interval", confidence=f"{shown.board.confidence:.0%}")
    table.add_column(words("statistic"))
    for heading in (words("released"), interval, "ε", words("exact")):
        table.add_column(heading, justify="right")
    for name in found:
        release = found[name]
        value = words("bins", n=len(release)) if len(release) > 1 else f"{release.value:,.0f}"
        exact = f"{shown.truth[name]:,.0f}" if name in shown.truth else ""
        title = shown.board.questions[name].title or name
        table.add_row(Text(title), value, _around(release), _epsilon(release.guarantee), Text(exact, "dim"))
    table.add_section()
    table.add_row(Text(words("together"), "bold"), "", "", Text(_epsilon(found.guarantee), "bold"), "")
    console.print(table)
    say(words("exact-means") + "\n", "dim")


def _epsilon(guarantee: Guarantee) -> str:
    return f"{getattr(guarantee, 'epsilon', 0):g}"


def _around(release: Release) -> str:
    """The interval of one number, half its width for several, or the error in ranks."""
    (name,) = release.outputs
    if name in release.ranks:
        return words("ranks", n=f"{release.ranks[name]:,.0f}")
    low, high = release.interval(name)
    if len(release) > 1:
        return words("each", n=f"{(high - low) / 2:,.0f}")
    return f"{low:,.0f} … {high:,.0f}"


def _bars(histogram: Release) -> None:
    labels, (output,) = histogram[histogram.groups[0]], histogram.outputs
    counts = [max(int(x), 0) for x in histogram[output] if isinstance(x, int)]
    for label, n in zip(labels, counts, strict=True):
        bar = "█" * round(44 * n / max(*counts, 1))
        console.print(Text.assemble(f"{label!s:>18}  {n:>6,}  ", (bar, "cyan")))


def _afterwards(shown: Demonstration, folder: Path) -> None:
    balance, charge = shown.balance, shown.publication.charge
    say("")
    if shown.publication.repeated:
        say(words("demo-again", charge=charge), "green")
    else:
        say(words("demo-paid", charge=charge), "green")
    spent, left = loss(balance.spent), loss_left(balance.remaining)
    say(words("demo-budget", budget=loss(balance.budget), spent=spent, left=left))
    say("\n" + words("try-next"), "bold")
    for line in (
        *_on_the_path(),
        f"cd {folder}",
        'curador explain "SELECT AVG(pay) AS mean FROM salaries" --epsilon 0.1',
        'curador ask "SELECT COUNT(*) FROM salaries WHERE pay > 50000" --epsilon 0.1',
        "curador budget",
        "curador history",
        "curador ledger verify",
    ):
        whole(f"  {line}")
    there = words("console-on", folder=f"{folder}{os.sep}")
    console.print(Text.assemble("\n", (words("in-a-browser"), "bold"), there))
    whole(f"  curador serve {'demo' if folder == FOLDER else folder}")


def _on_the_path() -> tuple[str, ...]:
    """The line that puts `curador` on the shell's path, where its virtual environment is not activated."""
    program = Path(sys.argv[0])
    if program.name != "curador" or shutil.which("curador") or not (program.parent / "activate").is_file():
        return ()
    return (f". {program.parent / 'activate'}",)
