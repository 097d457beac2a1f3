"""The command new-task: a question for many devices, and what it promises, costs and can tell."""

from __future__ import annotations

import json
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curador.cli.local.tasks import OPTIONS, Typed, keys_of, write_new
from curador.cli.options import Confidence, Json
from curador.cli.screen import bullet, emit, whole
from curador.errors import InvalidParameter

if TYPE_CHECKING:
    from curador.local.task.task import Task

Out = Annotated[Path, typer.Option(help="The file to write; it must not exist.")]


def new_task(
    mechanism: Annotated[str, typer.Argument(metavar="MECHANISM", help=f"One of {', '.join(OPTIONS)}.")],
    epsilon: Annotated[str, typer.Option(help="What one report may cost, as a decimal or a fraction.")],
    keys: Annotated[str | None, typer.Option(help="The possible answers, separated by commas.")] = None,
    keys_file: Annotated[Path | None, typer.Option(help="A file with one answer a line, or a JSON list.")] = None,
    size: Annotated[int | None, typer.Option(help="How many answers there are, if they are 0, 1, 2, …")] = None,
    rest: Annotated[str | None, typer.Option(help="The key that stands for all answers that are not listed.")] = None,
    low: Annotated[str | None, typer.Option(help="The lower bound of a number.")] = None,
    high: Annotated[str | None, typer.Option(help="The upper bound of a number.")] = None,
    dimension: Annotated[int | None, typer.Option(help="How many numbers a vector has.")] = None,
    buckets: Annotated[int | None, typer.Option(help="How many buckets a distribution has.")] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Of a record: age=0:100, drink=tea,coffee or stars=5; once for each.")
    ] = None,
    sampled: Annotated[int | None, typer.Option(help="On how many keys or attributes each person reports.")] = None,
    values: Annotated[int | None, typer.Option(help="How many different values of a person are protected.")] = None,
    first: Annotated[str | None, typer.Option(help="What the first of many reports may cost alone.")] = None,
    salt: Annotated[str | None, typer.Option(help="Makes the hash functions of this task its own.")] = None,
    rows: Annotated[int | None, typer.Option(help="How many hash functions a sketch has.")] = None,
    places: Annotated[int | None, typer.Option(help="How many places each of them has.")] = None,
    bloom: Annotated[int | None, typer.Option(help="How many bits RAPPOR's filter has.")] = None,
    hashes: Annotated[int | None, typer.Option(help="How many of them a value sets.")] = None,
    cohorts: Annotated[int | None, typer.Option(help="How many sets of hash functions RAPPOR has.")] = None,
    kind: Annotated[str | None, typer.Option(help="Heavy hitters: text or integers.")] = None,
    length: Annotated[int | None, typer.Option(help="Heavy hitters: how many bytes a value has at most.")] = None,
    users: Annotated[
        int | None, typer.Option(help="How many people will report: says the error, chooses best.")
    ] = None,
    within: Annotated[str | None, typer.Option(help="The error wanted: says how many people are needed.")] = None,
    confidence: Confidence = 0.95,
    out: Out = Path("task.json"),
    as_json: Json = False,
) -> None:
    """Write a task for devices to answer, and say what it promises, costs and can tell.

    best chooses the frequency oracle with the least error for so many --users.

    Example: curador local new-task krr --keys tea,coffee,water --epsilon 1 --within 0.01
    """
    from curador.cli.local.shown import people
    from curador.local.collect.summaries import caution
    from curador.local.collect.wire import publish_task, task_id
    from curador.show.estimates import as_percent

    numbers = Typed(
        *(keys_of(keys, keys_file, size), rest, low, high, dimension, buckets, attribute, sampled, values, first),
        *(salt, rows, places, bloom, hashes, cohorts, kind, length),
    )
    task = numbers.task(mechanism, epsilon, users)
    needed, error = _needed(task, within, confidence), _error(task, users, confidence)
    write_new(out, [json.dumps(publish_task(task), indent=1), "\n"])
    facts = {
        "file": str(out),
        "id": task_id(task),
        "mechanism": task.mechanism,
        "epsilon": str(task.epsilon),
        "delivered": task.delivered,
        "report_bits": task.report_bits,
        "report_bytes": task.layout.size,
    }
    planned = {"users": users, "error": error, "within": within, "users_needed": needed, "confidence": confidence}
    promise = _promise(task)
    if as_json:
        emit({**facts, **planned, "promise": promise, "caution": caution(task)})
        return
    whole(f"{out}: {task.mechanism}, ε = {task.epsilon}")
    bullet(promise)
    bullet(f"The integers in it deliver ε = {task.delivered}, rounded up.")
    bullet(f"A report has {_many(task.report_bits, 'bit')}, on its way {_many(task.layout.size, 'byte')}.")
    how = f"with {as_percent(confidence)} confidence"
    if users is not None and error is not None:
        bullet(f"From {people(users)} every estimate is within ±{error:.3g}, {how}.")
    if needed is not None:
        goal = f"every estimate to be within ±{within}"
        if task.mechanism == "heavy-hitters":
            goal = f"every value that a share of {within} of the people have to be found"
        bullet(f"For {goal}, {how}, {people(needed)} must report.")
    if known := caution(task):
        bullet(known)
    whole(f"Then: curador local simulate {out} --users 10000")


def _many(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'s' * (number != 1)}"


def _promise(task: Task) -> str:
    from curador.accounting.meaning import posterior
    from curador.numbers import up

    sure = ceil(1000 * posterior(up(task.epsilon)).upper) / 10
    power = task.epsilon if task.epsilon.denominator == 1 else f"({task.epsilon})"
    return (
        f"Whatever a person's value is, no report is more than e^{power} times as likely under it as under any "
        f"other: a guess between two values that was 50:50 is {sure:g}% sure after it at most. "
        f"{_LASTING.get(task.mechanism, 'That is for one report per person.')}"
    )


_LASTING = {
    "rappor": "That is for all reports of a person together, if the device remembers its first answer.",
    "longitudinal": "That is for all reports of a person together, if their values change at the same times; "
    "that something changed is not covered.",
}


def _error(task: Any, users: int | None, confidence: float) -> float | None:
    """How far estimates from so many people are off; known beforehand for oracles and means."""
    if users is None:
        return None
    if not hasattr(task, "error"):
        raise InvalidParameter(
            f"The error of {task.mechanism} is not known beforehand.", fix="Leave --users out, and simulate."
        )
    error: float = task.error(users, confidence)
    return error


def _needed(task: Any, within: str | None, confidence: float) -> int | None:
    """How many people make the error small enough, or values of that frequency sure to be found."""
    from curador.local import users_needed

    if within is None:
        return None
    if hasattr(task, "users_needed"):
        people: int = task.users_needed(within, confidence)
        return people
    _error(task, 1, confidence)  # refused if it is not known
    return users_needed(task, within, confidence)
