"""What requests may say: strict, and nothing that is not named here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from curador import within
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


class PriceBody(Body):
    """What to pay: epsilon (with delta), or rho, or the error that is wanted."""

    epsilon: Annotated[Amount | None, Field(description="What to pay: the privacy loss of the whole question.")] = None
    delta: Annotated[Amount | None, Field(description="The delta beside epsilon or rho, where one is needed.")] = None
    rho: Annotated[Amount | None, Field(description="Zero-concentrated privacy, instead of epsilon.")] = None
    accuracy: Annotated[
        WantedBody | None, Field(description="The error that is wanted, instead of epsilon: the least that reaches it.")
    ] = None
    confidence: Annotated[float, Field(description="How often intervals hold the true value.")] = 0.95
    rows: Annotated[
        int | None, Field(ge=1, description="How many rows are behind each number, if you know: for the error.")
    ] = None
    contribution: Annotated[LimitsBody | None, Field(description="How much of one unit counts.")] = None

    def price(self) -> dict[str, Any]:
        """The keywords of ``Curator.plan``."""
        limit = self.contribution
        kept: Any = None if limit is None else limit.rows if limit.groups is None else (limit.groups, limit.rows)
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "accuracy": wanted(self.accuracy),
            "confidence": self.confidence,
            "rows": self.rows,
            "contribution": kept,
        }


class QuestionBody(PriceBody):
    """What is asked, as SQL or as a question that the Python client built, and at what price."""

    sql: Annotated[str, Field(max_length=20_000)] | None = None
    question: dict[str, Any] | None = None
    noise: Literal["laplace", "gaussian"] | None = None
    weights: dict[Name, Amount] | None = None
    language: Language | None = None

    def price(self) -> dict[str, Any]:
        """The keywords of ``Curator.plan``."""
        return {**super().price(), "noise": self.noise, "weights": self.weights}


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


class RecipeBody(Body):
    """A model to be learned: which, from what, and with what guarantee (in its settings, such as epsilon and delta)."""

    model: Name
    table: Name
    features: (
        Annotated[list[Name], Field(min_length=1, max_length=1000)]
        | Annotated[dict[Name, Annotated[str, Field(max_length=2000)]], Field(min_length=1, max_length=1000)]
    )
    label: Name | None = None
    where: Annotated[str, Field(max_length=20_000)] | None = None
    rows_per_unit: Annotated[int, Field(ge=1)] | None = None
    settings: dict[Name, Any] = {}


class FitBody(RecipeBody, TermsBody):
    """A model to pay for."""


class ScoreBody(TermsBody):
    """How often a model that was bought is right: on the rows it was learned from, or on those of another table."""

    model: Annotated[str, Field(max_length=20, pattern="^[0-9]+$", description="The charge that bought the model.")]
    epsilon: Amount
    table: Name | None = None
    where: Annotated[str, Field(max_length=20_000)] | None = None


class MechanismBody(Body):
    """A mechanism of curador to be tested: no data is read."""

    kind: Name
    epsilon: Amount = 1
    delta: Amount | None = None
    sensitivity: Annotated[int, Field(ge=1, le=1000)] = 1
    runs: Annotated[int, Field(ge=200, le=1_000_000)] = 30_000
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.999


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
    """A token to make: for whom, and until when."""

    role: Literal["curator", "analyst", "auditor", "reader"]
    analyst: Name | None = None
    label: Annotated[str, Field(max_length=200)] = ""
    expires: Annotated[str, Field(max_length=40)] | None = None


class EndBody(Body):
    because: Text = ""


class ExchangeBody(Body):
    code: Annotated[str, Field(max_length=100)]


class PrepareBody(Body):
    table: Name
    group_by: Annotated[list[Name], Field(max_length=20)] = []


def wanted(accuracy: WantedBody | None) -> Any:
    """A wanted accuracy as a curator takes it."""
    if accuracy is None:
        return None
    return within(accuracy.error, accuracy.confidence, accuracy.output, unit=accuracy.unit)


def asked(body: QuestionBody) -> str | dict[str, Any]:
    """The one question of a body."""
    if (body.sql is None) == (body.question is None):
        raise InvalidParameter("A request has one question.", fix="Send sql, or question.", code="one-question")
    return body.sql if body.sql is not None else body.question or {}
