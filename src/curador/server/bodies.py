"""What requests may say: strict, and nothing that is not named here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from curador.errors import InvalidParameter

Amount = int | float | Annotated[str, Field(max_length=60)]
"""A number, or a fraction as text, such as "1/10": exact where it matters."""

Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=2000)]
Language = Literal["en", "es"]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class WantedBody(Body):
    """A wanted accuracy, instead of a budget."""

    error: Amount
    confidence: float = 0.95
    output: Name | None = None
    unit: Literal["ranks"] | None = None


class LimitsBody(Body):
    """How much of one unit counts: groups and rows in each, or rows alone."""

    groups: Annotated[int, Field(ge=1)] | None = None
    rows: Annotated[int, Field(ge=1)] = 1


class QuestionBody(Body):
    """What is asked, as SQL or as a question that the Python client built, and at what price."""

    sql: Annotated[str, Field(max_length=20_000)] | None = None
    question: dict[str, Any] | None = None
    epsilon: Amount | None = None
    delta: Amount | None = None
    rho: Amount | None = None
    accuracy: WantedBody | None = None
    noise: Literal["laplace", "gaussian"] | None = None
    weights: dict[Name, Amount] | None = None
    confidence: float = 0.95
    rows: Annotated[int, Field(ge=1)] | None = None
    contribution: LimitsBody | None = None
    language: Language | None = None


class TermsBody(Body):
    """For what reason, and under which key so that it is bought once however often it is sent."""

    because: Text = ""
    override: bool = False
    key: Name | None = None
    fresh: bool = False


class AskBody(QuestionBody, TermsBody):
    """A question to pay for."""


class BatchBody(Body):
    """Several questions, answered together for one charge."""

    questions: Annotated[dict[Name, Annotated[str, Field(max_length=20_000)] | dict[str, Any]], Field(max_length=100)]
    epsilon: Amount | None = None
    delta: Amount | None = None
    rho: Amount | None = None
    weights: dict[Name, Amount] | None = None
    accuracies: dict[Name, WantedBody] | None = None
    confidence: float = 0.95
    rows: Annotated[int, Field(ge=1)] | None = None
    tight: Amount | None = None
    adjust: bool = True
    language: Language | None = None


class PublishBody(BatchBody, TermsBody):
    """Several questions to pay for."""

    title: Annotated[str, Field(max_length=200)] = ""


class GrantBody(Body):
    """An amount by which a budget is raised, or a new analyst's budget."""

    scope: Name
    epsilon: Amount | None = None
    delta: Amount | None = None
    rho: Amount | None = None
    because: Text = ""
    group: Name | None = None
    expires: Annotated[str, Field(max_length=40)] | None = None


class RevokeBody(Body):
    scope: Name
    because: Text = ""


class TokenBody(Body):
    """A token to make: for whom, and until when; or a code that is exchanged ``once``, as by opening a link."""

    role: Literal["curator", "analyst", "auditor", "reader"]
    analyst: Name | None = None
    label: Annotated[str, Field(max_length=200)] = ""
    expires: Annotated[str, Field(max_length=40)] | None = None
    once: bool = False


class EndBody(Body):
    because: Text = ""


class ExchangeBody(Body):
    code: Annotated[str, Field(max_length=100)]


class PrepareBody(Body):
    table: Name
    group_by: Annotated[list[Name], Field(max_length=20)] = []


def asked(body: QuestionBody) -> str | dict[str, Any]:
    """The one question of a body."""
    if (body.sql is None) == (body.question is None):
        raise InvalidParameter("A request has one question.", fix="Send sql, or question.", code="one-question")
    return body.sql if body.sql is not None else body.question or {}
