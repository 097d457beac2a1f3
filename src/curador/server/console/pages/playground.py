"""Playground: lessons on the real engine, for every role.  Nothing here reads the data of the study, or spends."""

from __future__ import annotations

from fractions import Fraction

from fastapi import Response
from markupsafe import Markup

from curador.errors import CuradorError
from curador.server.console.forms import Filled
from curador.server.console.genuine import page_router
from curador.server.console.playground.deciding import Turn, guessed
from curador.server.console.playground.lesson import Illustration, Lesson
from curador.server.console.playground.lessons import FIRST, FURTHER, LESSONS
from curador.server.console.visit import Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.gate.refusals import not_found
from curador.server.service import Anyone
from curador.show.pages.page import figure

router = page_router()

GAME = "deciding"
"""The lesson that has rounds to play."""


@router.get("/playground", response_class=Response)
async def playground(visit: Visiting, caller: Anyone) -> Response:
    """All lessons."""
    return visit.page("playground.html", first=FIRST, further=FURTHER)


@router.get("/playground/{name}", response_class=Response)
async def lesson(name: str, visit: Visiting, caller: Anyone) -> Response:
    """A lesson with the numbers of the address, or those it begins with; with htmx without the page around it."""
    found = LESSONS.get(name)
    if found is None:
        raise not_found()
    form, values = _read(found, Filled({**found.defaults(), **visit.request.query_params}))
    if form.errors:
        return _page(visit, found, form, None, None, status_of(next(iter(form.errors.values()))))
    shown = await visit.serving.work(lambda: found.show(**values))
    game = guessed(visit.cookie, visit.key(), values["epsilon"], form.values) if name == GAME else None
    return _page(visit, found, form, shown, game)


def _read(found: Lesson, form: Filled) -> tuple[Filled, dict[str, Fraction]]:
    values = {}
    for knob in found.knobs:
        try:
            values[knob.name] = knob.read(form[knob.name])
        except CuradorError as error:
            form = form.refused(knob.name, error)
    return form, values


def _page(
    visit: Visit, found: Lesson, form: Filled, shown: Illustration | None, game: Turn | None, status: int = 200
) -> Response:
    names = list(LESSONS)
    at = names.index(found.name)
    return visit.page(
        "_playground.html" if visit.partial else "lesson.html",
        status,
        lesson=found,
        form=form,
        shown=shown,
        game=game,
        figures=[Markup(figure(one, visit.language)) for one in (shown.drawings if shown else ())],
        tables=[(one.worded(visit.language), visit.say(one.code)) for one in (shown.listings if shown else ())],
        before=names[at - 1] if at else "",
        after=names[at + 1] if at + 1 < len(names) else "",
    )
