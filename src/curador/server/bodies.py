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
    """What a request may say; a subclass states an example, which the description shows."""

    model_config = ConfigDict(extra="forbid", strict=True)


SEXES = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
BAYES = {"model": "GaussianNB", "table": "people", "features": ["age"], "label": "sex", "settings": {"epsilon": "0.5"}}
"""A question and a model, for examples."""


def example(**body: Any) -> ConfigDict:
    """A body as an example of its kind."""
    return ConfigDict(json_schema_extra={"examples": [body]})


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


class BudgetBody(Body):
    """An amount: epsilon (with delta), or rho."""

    epsilon: Annotated[Amount | None, Field(description="How much: the privacy loss of the whole.")] = None
    delta: Annotated[Amount | None, Field(description="The delta beside epsilon or rho, where one is needed.")] = None
    rho: Annotated[Amount | None, Field(description="Zero-concentrated privacy, instead of epsilon.")] = None


class PriceBody(BudgetBody):
    """What to pay: epsilon (with delta), or rho, or the error that is wanted."""

    accuracy: Annotated[
        WantedBody | None,
        Field(
            description="The error that is wanted, instead of epsilon: the least that reaches it.",
            examples=[{"error": 0.5}],
        ),
    ] = None
    confidence: Annotated[float, Field(description="How often intervals hold the true value.")] = 0.95
    rows: Annotated[
        int | None, Field(ge=1, description="How many rows are behind each number, if you know: for the error.")
    ] = None
    contribution: Annotated[
        LimitsBody | None, Field(description="How much of one unit counts.", examples=[{"groups": 1, "rows": 1}])
    ] = None

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

    model_config = example(sql=SEXES, epsilon="0.1")

    sql: Annotated[
        Annotated[str, Field(max_length=20_000)] | None, Field(description="The question; or give question.")
    ] = None
    question: Annotated[
        dict[str, Any] | None, Field(description="The question as the Python client builds it, instead of sql.")
    ] = None
    noise: Annotated[
        Literal["laplace", "gaussian"] | None, Field(description="Which noise; the better one by default.")
    ] = None
    weights: Annotated[
        dict[Name, Amount] | None, Field(description="How much the error of each output counts against the others'.")
    ] = None
    language: Annotated[Language | None, Field(description="Of the words in the answer.")] = None

    def price(self) -> dict[str, Any]:
        """The keywords of ``Curator.plan``."""
        return {**super().price(), "noise": self.noise, "weights": self.weights}


class TermsBody(Body):
    """For what reason, and under which key so that it is bought once however often it is sent."""

    because: Annotated[Text, Field(description="Why: kept with the charge. An epsilon above 1 needs it.")] = ""
    override: Annotated[bool, Field(description="Allows an epsilon of 10 and more; the release says so.")] = False
    key: Annotated[Name | None, Field(description="Names the request: sent again it is bought once.")] = None
    fresh: Annotated[bool, Field(description="Buys a new answer although there is one.")] = False
    anyway: Annotated[bool, Field(description="Buys also what compares with values that no declaration allows.")] = (
        False
    )


class AskBody(QuestionBody, TermsBody):
    """A question to pay for."""

    model_config = example(
        sql=SEXES,
        epsilon="0.1",
        because="the yearly report",
        key="report-2026-1",
    )


class EntryBody(Body):
    """What readers are told of one question of a dashboard."""

    title: Annotated[str, Field(max_length=200)] = ""
    why: Text = ""


class BatchBody(BudgetBody):
    """Several questions, answered together for one charge."""

    model_config = example(questions={"sexes": SEXES}, epsilon="0.5", rows=1000)

    questions: Annotated[
        dict[Name, Annotated[str, Field(max_length=20_000)] | dict[str, Any]],
        Field(
            max_length=100,
            description="Each by its name: SQL, or as the Python client builds it.",
            examples=[{"sexes": SEXES}],
        ),
    ]
    weights: Annotated[
        dict[Name, Amount] | None, Field(description="How the budget is shared by the questions; equally by default.")
    ] = None
    accuracies: Annotated[
        dict[Name, WantedBody] | None, Field(description="The error that is wanted, for some of the questions.")
    ] = None
    confidence: Annotated[float, Field(description="How often intervals hold the true value.")] = 0.95
    rows: Annotated[int | None, Field(ge=1, description="How many rows are behind each number, if you know.")] = None
    tight: Annotated[
        Amount | None, Field(description="A delta at which all are charged together, by their loss distribution.")
    ] = None
    adjust: Annotated[bool, Field(description="Whether tables about the same rows are made to agree.")] = True
    title: Annotated[str, Field(max_length=200, description="Of the whole, for readers: a dashboard has one.")] = ""
    entries: Annotated[
        dict[Name, EntryBody] | None, Field(description="For readers: the title of each question, and why it is asked.")
    ] = None
    language: Language | None = None


class PublishBody(BatchBody, TermsBody):
    """Several questions to pay for."""

    model_config = example(
        questions={"sexes": SEXES},
        epsilon="0.5",
        because="the yearly report",
        key="report-2026-2",
    )


class QualityBody(BudgetBody):
    """How well the rows of a table fit what is declared about its columns: all of them, or those named."""

    model_config = example(table="people", columns=["age"], epsilon="0.1")

    table: Name
    columns: Annotated[list[Name], Field(max_length=1000)] = []
    confidence: Annotated[float, Field(description="How often intervals hold the true value.")] = 0.95
    language: Language | None = None

    def price(self) -> dict[str, Any]:
        """The keywords of ``Curator.quality``."""
        return {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho, "confidence": self.confidence}


class PaidQualityBody(QualityBody, TermsBody):
    """The same, to pay for."""

    model_config = example(table="people", epsilon="0.1", because="whether ages were clipped", key="quality-1")


class RecipeBody(Body):
    """A model to be learned: which, from what, and with what guarantee (in its settings, such as epsilon and delta)."""

    model_config = example(
        model="GaussianNB", table="people", features=["age"], label="sex", settings={"epsilon": "0.5"}
    )

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

    model_config = example(
        model="GaussianNB",
        table="people",
        features=["age"],
        label="sex",
        settings={"epsilon": "0.5"},
        because="a trial",
        key="fit-1",
    )


class ScoreBody(TermsBody):
    """How often a model that was bought is right: on the rows it was learned from, or on those of another table."""

    model_config = example(model="12", epsilon="0.1", because="a trial")

    model: Annotated[str, Field(max_length=20, pattern="^[0-9]+$", description="The charge that bought the model.")]
    epsilon: Amount
    table: Name | None = None
    where: Annotated[str, Field(max_length=20_000)] | None = None
    label: Annotated[Name | None, Field(description="What is right there; by default as it was learned.")] = None
    features: Annotated[
        dict[Name, Annotated[str, Field(max_length=2000)]] | None,
        Field(min_length=1, max_length=1000, description="The features there; by default as it was learned."),
    ] = None
    rows_per_unit: Annotated[int, Field(ge=1)] | None = None


class MechanismBody(Body):
    """A mechanism of curador to be tested: no data is read."""

    model_config = example(kind="laplace", epsilon=1, runs=30000)

    kind: Name
    epsilon: Amount = 1
    delta: Amount | None = None
    sensitivity: Annotated[int, Field(ge=1, le=1000)] = 1
    runs: Annotated[int, Field(ge=200, le=1_000_000)] = 30_000
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.999


class GrantBody(BudgetBody):
    """An amount by which a budget is raised, or a new analyst's budget."""

    model_config = example(scope="ana", epsilon="1", because="the labour survey", expires="2027-01-31")

    scope: Name
    because: Text = ""
    group: Name | None = None
    expires: Annotated[str, Field(max_length=40)] | None = None


class RevokeBody(Body):
    model_config = example(scope="ana", because="left the project")

    scope: Name
    because: Text = ""


class TokenBody(Body):
    """A token to make: for whom, and until when; or a code that is exchanged ``once``, as by opening a link."""

    model_config = example(role="analyst", analyst="ana", label="laptop", expires="2027-01-31")

    role: Literal["curator", "analyst", "auditor", "reader"]
    analyst: Name | None = None
    label: Annotated[str, Field(max_length=200)] = ""
    expires: Annotated[str, Field(max_length=40)] | None = None
    once: bool = False


class EndBody(Body):
    model_config = example(because="laptop lost")

    because: Text = ""


class ExchangeBody(Body):
    model_config = example(code="cur_…")

    code: Annotated[str, Field(max_length=100)]


class PrepareBody(Body):
    model_config = example(table="people", group_by=["sex"])

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
