"""Collect: local tasks that devices answer, and what their reports say so far.

A report is private before it leaves the device, so looking at estimates costs nothing, as often as one likes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

from fastapi import Path, Query, Response
from markupsafe import Markup

from curador.errors import CuradorError, InvalidParameter
from curador.local.collect.collector import Collector, Receipt
from curador.local.collect.summaries import summarize
from curador.local.devices.clients import FILES, source
from curador.local.task.build import build_task, options_of
from curador.local.task.task import Task
from curador.server.console.forms import Filled, amount, filled, number_text, refuse_doubtful
from curador.server.console.genuine import page_router
from curador.server.console.visit import HEADERS, Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.gate.refusals import not_found, refused
from curador.server.routes.collect import CollectedTask, taken_by
from curador.server.service import Holder, Overseer
from curador.show.pages.bars import Bar
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing
from curador.show.pages.page import figure
from curador.show.summary import Summary
from curador.show.words.say import knows, say

router = page_router()

MECHANISMS = (
    "yes-no",
    "best",
    "krr",
    "oue",
    "olh",
    "hadamard",
    "subset",
    "hybrid",
    "piecewise",
    "duchi",
    "square-wave",
)
"""The mechanisms that a form makes tasks of; the command line has all."""

OF_TWO = {"yes-no": "krr"}
"""A plain question has two answers, and of two the oldest way is the best one."""

BARS, BUCKETS, WIDEST_KEYS = 30, 24, 20_000

Name = Annotated[str, Path(max_length=40, pattern="^[a-z0-9][a-z0-9-]*$")]


@dataclass(frozen=True)
class Estimated:
    """What the reports so far say."""

    totals: Receipt
    summaries: Sequence[tuple[Summary, Markup, str]]
    later: str = ""


# ---- pages -----------------------------------------------------------------------------------------------------------


@router.get("/collect", response_class=Response)
async def collect(visit: Visiting, caller: Overseer) -> Response:
    """The tasks that devices answer here."""
    return await visit.serving.work(lambda: _all(visit, Filled({"mechanism": "yes-no", "epsilon": "1"})))


def _all(
    visit: Visit, form: Filled, status: int = 200, planned: Task | None = None, error: float | None = None
) -> Response:
    found = visit.serving.collected
    return visit.page(
        "collect.html",
        status,
        tasks=[
            (name, one.collector.task, _kind(visit, one.collector.task), one.collector.totals().accepted)
            for name, one in sorted(found.items())
        ],
        form=form,
        mechanisms=[(one, visit.say(f"collect.by-{one}")) for one in MECHANISMS],
        planned=planned,
        kind="" if planned is None else _kind(visit, planned),
        expected="" if error is None or planned is None else _off(visit, error, _of_shares(planned)),
        holder=visit.caller is not None and visit.caller.role == "curator",
    )


def _kind(visit: Visit, task: Task) -> str:
    """The kind of answer, in words, and the mechanism's name."""
    code = f"collect.by-{task.mechanism}"
    return visit.say(code) if knows(code) else task.mechanism


def _of_shares(task: Task) -> bool:
    """Whether estimates are shares of people, and not a number's own size."""
    return hasattr(task, "keys")


def _off(visit: Visit, error: float, shares: bool) -> str:
    """An error in words: of a share, in percentage points."""
    return visit.say("collect.points", points=f"{100 * error:.3g}") if shares else f"± {error:.3g}"


@router.post("/collect", response_class=Response)
async def make(visit: Visiting, caller: Holder) -> Response:
    """Say what a task would promise and tell; or, with the second button, make it and take reports."""
    form = await filled(visit.request)
    try:
        name, task, users = _asked(form, visit.language)
        if form["step"] != "make":
            error = await visit.serving.work(lambda: _expected(task, users))
            return await visit.serving.work(lambda: _all(visit, form, planned=task, error=error))
        made = await visit.serving.work(lambda: _made(visit, name, task))
        visit.serving.collected.setdefault(name, made)  # another request may have read of it in the study's file
    except Misfilled as misfilled:
        wrong = misfilled.form
        return await visit.serving.work(lambda: _all(visit, wrong, 422))
    except CuradorError as error:
        wrong, status = form.refused(_place(error), error), status_of(error)
        return await visit.serving.work(lambda: _all(visit, wrong, status))
    return visit.to(f"/console/collect/{name}")


@router.get("/collect/client/{file}", response_class=Response)
async def client(file: Annotated[str, Path(max_length=40)], visit: Visiting, caller: Overseer) -> Response:
    """The one file that a device needs."""
    language = next((language for language, name in FILES.items() if name == file), None)
    if language is None:
        raise not_found()
    kept = {**HEADERS, "Content-Disposition": f'attachment; filename="{file}"'}
    return Response(source(language), media_type="text/plain; charset=utf-8", headers=kept)


@router.get("/collect/{name}", response_class=Response)
async def task(
    name: Name, visit: Visiting, caller: Overseer, confidence: Annotated[float, Query(ge=0.5, le=0.999)] = 0.95
) -> Response:
    """One task: its promise, how devices answer it, and what they say; with htmx only the last."""
    found = _collected(visit, name)

    def made() -> Response:
        values: dict[str, Any] = {"name": name, "task": found.collector.task, "confidence": confidence}
        values["found"] = _estimated(visit, found, confidence)
        if visit.partial:
            return visit.page("_estimate.html", **values)
        values["origins"] = visit.serving.settings.origins
        return visit.page("collected.html", **values, snippets=_snippets(visit, name, found.collector.task))

    return await visit.serving.work(made)


def _collected(visit: Visit, name: str) -> CollectedTask:
    found: CollectedTask | None = visit.serving.collected.get(name)
    if found is None:
        raise not_found()
    return found


# ---- a new task ------------------------------------------------------------------------------------------------------


class Misfilled(Exception):
    """A form with all that is wrong with it, each next to its field."""

    def __init__(self, form: Filled) -> None:
        super().__init__("a form is not filled in as it should be")
        self.form = form


def _asked(form: Filled, language: str) -> tuple[str, Task, int | None]:
    """The task that a form describes.

    Fails: Misfilled, with all that is wrong; refused where the task itself cannot be made.
    """
    wrong: list[InvalidParameter] = []

    def tried(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except InvalidParameter as error:
            wrong.append(error)

    mechanism = form["mechanism"]
    name = tried(lambda: _name(form["name"].strip()))
    tried(lambda: _known(mechanism))
    users = tried(lambda: _users(form["users"], mechanism))
    tried(lambda: amount(form["epsilon"], "epsilon"))
    needed, taken = options_of(OF_TWO.get(mechanism, mechanism)) if mechanism in MECHANISMS else ((), ())
    options: dict[str, Any] = {}
    if mechanism in OF_TWO:
        options["keys"] = [say(f"collect.{one}", language) for one in ("yes", "no")]
    elif "keys" in (*needed, *taken):
        options["keys"] = tried(lambda: _keys(form["keys"]))
    if "low" in (*needed, *taken):
        low, high = (tried(partial(_end, end, form[end])) for end in ("low", "high"))
        if low is not None and high is not None and low >= high:
            wrong.append(_wrong("low", "The lowest is not below the highest.", "Swap them.", "above"))
        options |= {end: number_text(form[end]) for end in ("low", "high")}
    for error in wrong:
        form = form.refused(_place(error), error)
    if wrong:
        raise Misfilled(form)
    try:
        built = build_task(OF_TWO.get(mechanism, mechanism), number_text(form["epsilon"]), options, users=users)
    except CuradorError as error:
        where = "low" if "low" in needed else "keys"
        raise InvalidParameter(error.what, fix=error.fix, code="task-refused", facts={"field": where}) from None
    return name, built.named(name), users


def _name(name: str) -> str:
    if not name or not set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") or len(name) > 40 or name[0] == "-":
        raise _wrong("name", "The name is part of an address.", "Use a to z, 0 to 9 and -, at most 40 of them.")
    return name


def _known(mechanism: str) -> None:
    if mechanism not in MECHANISMS:
        raise _wrong("mechanism", "There is no such mechanism here.", "Choose one of the list.")


def _users(text: str, mechanism: str) -> int | None:
    found = _whole(text)
    if mechanism == "best" and found is None:
        raise _wrong("users", "The best mechanism depends on how many people report.", "Say about how many.", "needed")
    return found


def _keys(text: str) -> list[Any]:
    """The possible answers: two or more, each once."""
    if len(text) > WIDEST_KEYS:
        raise _wrong("keys", "These are too many for a form.", "Use the command line: curador local new-task.", "many")
    found = [key.strip() for line in text.splitlines() for key in line.split(",") if key.strip()]
    if len(found) < 2:
        raise _wrong("keys", "There must be two answers or more.", "Write one in a line.")
    if len(set(found)) < len(found):
        raise _wrong("keys", "An answer stands here twice.", "Write each once.", "twice")
    return found


def _end(field: str, text: str) -> Fraction:
    """An end of a range, as a decimal or a fraction."""
    refuse_doubtful(text, field)
    try:
        if len(text) <= 60 and "e" not in text.lower():
            return Fraction(number_text(text))
    except (ValueError, ZeroDivisionError):
        pass
    raise _wrong(field, "This is not a number.", "Write it with a point: 0, 10, 2.5.")


def _whole(text: str) -> int | None:
    plain = number_text(text.replace(" ", ""))
    if not plain:
        return None
    if not plain.isascii() or not plain.isdecimal() or len(plain) > 11 or not 1 <= int(plain) <= 10**10:
        raise _wrong("users", "This is not a number of people.", "Write it in digits.")
    return int(plain)


def _expected(task: Task, users: int | None) -> float | None:
    try:
        return None if users is None else task.error(users)
    except InvalidParameter:
        return None


def _made(visit: Visit, name: str, task: Task) -> CollectedTask:
    """Make the collector's folder next to the study, and name it in the study file, so that the next start has it."""
    from curador.curator.study.edit import rewrite, with_entry

    study = visit.serving.curator.study_file
    if study is None:
        raise refused("This study has no file.", "Name the folder where the server is started.", "no-study-file")
    if name in visit.serving.collected:
        raise _wrong("name", "There is a task of this name already.", "Choose another name.", "taken")
    was = study.read_text(encoding="utf-8-sig")
    folder = f"{name}-reports"
    text = with_entry(was, ("server", "collect", name), folder)
    collector = Collector.create(study.parent / folder, task)
    rewrite(study, was, text)
    return taken_by(collector)


def _wrong(field: str, what: str, fix: str, why: str = "") -> InvalidParameter:
    """A refusal that stands at a field, and says ``why`` in words of its own."""
    code = f"task-{field}-{why}" if why else f"task-{field}"
    return InvalidParameter(what, fix=fix, code=code, facts={"field": field})


def _place(error: CuradorError) -> str:
    return str(error.facts.get("field", "name" if error.code == "name-taken" else ""))


# ---- what devices do -------------------------------------------------------------------------------------------------

PYTHON = """\
import json
from urllib.request import Request, urlopen
from curador_device import message, read_task  # the one file above

address = {address}
task = read_task(json.load(urlopen(address)))  # refused if it does not keep its epsilon
report = json.dumps(message(task, {value})).encode()  # drawn once: keep it until it is sent
urlopen(Request(address, report, method="POST"))
"""

JAVASCRIPT = """\
<script src="curador_device.js"></script>
<script type="module">
  const address = {address};
  const task = curador.readTask(await (await fetch(address)).json()); // refused if it does not keep its epsilon
  const report = JSON.stringify(await curador.message(task, {value})); // drawn once: keep it until it is sent
  await fetch(address, {{ method: "POST", body: report }});
</script>
"""


def _snippets(visit: Visit, name: str, task: Task) -> list[tuple[str, str, str]]:
    """The language, its file, and a program that answers the task."""
    request = visit.request
    address = json.dumps(f"{request.url.scheme}://{request.headers['host']}/v1/collect/{name}")
    keys = getattr(task, "keys", None)
    some = 0 if isinstance(keys, int) else keys[0] if keys else float(getattr(task, "low", 0))
    value = json.dumps(some, ensure_ascii=False)
    return [
        ("Python", FILES["python"], PYTHON.format(address=address, value=value)),
        ("JavaScript", FILES["js"], JAVASCRIPT.format(address=address, value=value.replace("</", "<\\/"))),
    ]


# ---- estimates -------------------------------------------------------------------------------------------------------


def _estimated(visit: Visit, found: CollectedTask, confidence: float) -> Estimated:
    collector = found.collector
    totals = collector.totals()
    if not totals.accepted:
        return Estimated(totals, ())
    tally = collector.tally()
    try:
        made = summarize(collector.task, tally, confidence=confidence)
    except CuradorError as error:  # a sketch is asked about candidates
        if error.code not in ("candidates-needed", ""):
            raise
        return Estimated(totals, ())
    shown = [(one, _drawn(visit, one), _half(visit, one)) for one in made]
    later = _expected(collector.task, 10 * tally.users)
    return Estimated(totals, shown, "" if later is None else _off(visit, later, made[0].kind == "frequencies"))


def _half(visit: Visit, one: Summary) -> str:
    """Half the width of the widest interval, in words."""
    halves = [(high - low) / 2 for low, high in zip(one.low, one.high, strict=True)]
    return _off(visit, max(halves), one.kind == "frequencies") if halves else ""


def _drawn(visit: Visit, one: Summary) -> Markup:
    if one.kind == "distribution":
        coarse = one.merged(BUCKETS)
        track = Track("", coarse.edges, (*coarse.values, coarse.values[-1]), "steps")
        drawing = Drawing(
            "collect.chart", "xy", (track,), x=Axis("@collect.value"), y=Axis("@collect.share", percent=True)
        )
        return Markup(figure(drawing, visit.language))
    ends: Any = zip(one.low, one.high, strict=True) if one.low else [(None, None)] * len(one.values)
    limits = list(ends)
    bars = tuple(Bar(str(one.labels[i]), one.values[i], *limits[i]) for i in one.largest(BARS))
    percent = one.kind == "frequencies"
    return Markup(figure(Drawing("collect.chart", bars=bars, x=Axis(percent=percent)), visit.language))
