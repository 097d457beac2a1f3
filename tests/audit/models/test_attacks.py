"""Canaries, shadow models and guessed attributes: what remembers is found, what is private within its claim is not."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans as PlainKMeans
from sklearn.decomposition import PCA as PlainPCA
from sklearn.linear_model import LinearRegression as PlainLinear
from sklearn.linear_model import LogisticRegression as PlainRegression
from sklearn.svm import LinearSVC as PlainSVC
from sklearn.tree import DecisionTreeClassifier

from curador import ZCDP, ApproxDP, Curator, PureDP, Table
from curador.audit.models.attribute import attack_attribute
from curador.audit.models.canaries import DELTA, audit_canaries, epsilon_and_delta
from curador.audit.models.curves import RocCurve, ceiling_at, ceiling_auc
from curador.audit.models.guesses import proven
from curador.audit.models.scores import membership_score
from curador.audit.models.shadows import attack_membership
from curador.audit.models.tables import audit_table_canaries
from curador.errors import InvalidParameter
from curador.learn import GaussianNB, LogisticRegression

_rng = np.random.default_rng(4)
ROWS = _rng.normal(size=(80, 30))
LABELS = _rng.integers(0, 2, 80)
KEYS = [f"canary {i}" for i in range(300)]


class QuarterOfTheNoise(GaussianNB):
    """Says one epsilon and spends four times as much."""

    def fit(self, X: Any, y: Any = None) -> Any:
        assert isinstance(self.epsilon, int | float)
        return GaussianNB(4 * self.epsilon, keys=self.keys, classes=self.classes).fit(X, y)


def own_keys(kind: Any, epsilon: float, runs: int = 4) -> Any:
    """Canaries with a key of their own in a model that counts keys."""
    rows = np.array(KEYS, object)[:, None]
    frame = pytest.importorskip("pandas").DataFrame

    def fit(X: Any, y: Any) -> Any:
        return kind(epsilon, keys={"key": KEYS}, classes=["no", "yes"]).fit(X, y)

    base = frame({"key": [None]}), np.array(["yes"], object)
    canaries = frame({"key": rows[:, 0]}), np.array(["yes"] * len(KEYS), object)
    return audit_canaries(fit, *base, canaries, claim=PureDP(epsilon), runs=runs, seed=3)


def test_canaries_put_a_floor_under_a_model_that_keeps_its_claim() -> None:
    found = own_keys(GaussianNB, 8)
    assert not found.violated
    assert 1.5 < found.floor < 8
    assert found.samples == 4 * len(KEYS)
    assert found.details["ceiling"] == 8


def test_canaries_catch_a_model_that_does_not() -> None:
    found = own_keys(QuarterOfTheNoise, 2)
    assert found.violated
    assert found.floor > 2
    assert "guesses by canaries were right" in found.witness


def test_a_private_model_is_not_flagged_and_a_classic_one_is_found_out() -> None:
    def private(X: Any, y: Any) -> Any:
        return LogisticRegression(1, 1e-5, bounds=(-4, 4), classes=[0, 1], steps=4).fit(X, y)

    def classic(X: Any, y: Any) -> Any:
        return PlainRegression(C=100).fit(X, y)

    claim = ApproxDP(1, 1e-5)
    quiet = attack_membership(private, ROWS, LABELS, claim=claim, shadows=10, targets=3, seed=1)
    loud = attack_membership(classic, ROWS, LABELS, shadows=16, targets=6, seed=1)
    assert not quiet.finding.violated
    assert quiet.auc < 0.6 < 0.75 < loud.auc
    assert loud.finding.floor > 1
    told = loud.to_dict()
    assert told["auc"] == loud.auc
    assert len(told["roc"]["fpr"]) == len(told["roc"]["tpr"]) > 100  # type: ignore[index]
    assert "never" not in loud.sentence()
    assert "verified" not in quiet.sentence()


def test_a_tree_remembers_an_attribute_and_a_private_model_does_not() -> None:
    X, y = _rng.integers(0, 2, (600, 12)).astype(float), _rng.integers(0, 2, 600)
    members, others = (X[:300], y[:300]), (X[300:], y[300:])
    tree = DecisionTreeClassifier(random_state=0).fit(*members)
    private = LogisticRegression(1, 1e-5, bounds=(0, 1), classes=[0, 1], steps=4).fit(*members)
    found = attack_attribute(tree, members, others, 0, [0.0, 1.0])
    low, high = found.interval
    assert low > 0
    assert low < found.advantage < high
    low, high = attack_attribute(private, members, others, 0, [0.0, 1.0]).interval
    assert low < 0 < high


def nothing(model: Any, X: Any, y: Any) -> Any:
    return np.zeros(len(X))


def test_whoever_says_how_common_a_value_is_is_not_guessed() -> None:
    others = np.array([[0.0], [1.0]] * 50)  # those that tell have a 0, the rest a 1
    found = attack_attribute(None, (np.zeros((10, 1)), None), (others, None), 0, [0.0, 1.0], score=nothing)
    assert (found.members, found.others, found.rows) == (1, 0, (10, 50))
    for members, some in ((0, 2), (1, 1)):
        with pytest.raises(InvalidParameter):
            attack_attribute(None, (np.zeros((members, 1)), None), (np.zeros((some, 1)), None), 0, [0, 1])


def test_the_interval_holds_the_advantage_of_a_model_that_says_nothing() -> None:
    rng, missed = np.random.default_rng(5), 0
    for _ in range(100):
        members, others = (rng.integers(0, 100, (n, 1)) for n in (2000, 100))
        found = attack_attribute(None, (members, None), (others, None), 0, range(100), score=nothing, confidence=0.9)
        missed += not found.interval[0] <= 0 <= found.interval[1]
    assert missed <= 10


def test_every_kind_of_model_has_a_score() -> None:
    rows, values = ROWS[:, :3], ROWS[:, 0]
    fitted: list[tuple[Any, Any]] = [
        (PlainRegression().fit(rows, LABELS), LABELS),
        (PlainSVC().fit(rows, LABELS), LABELS),
        (PlainSVC().fit(rows, np.arange(80) % 3), np.arange(80) % 3),
        (PlainLinear().fit(rows, values), values),
        (PlainKMeans(3, n_init=1, random_state=0).fit(rows), None),
        (PlainPCA(2).fit(rows), None),
    ]
    for model, y in fitted:
        found = membership_score(model, rows, y)
        assert found.shape == (80,)
        assert np.isfinite(found).all()
        assert len(set(found.tolist())) > 10
    svc, y = fitted[2]
    right = svc.predict(rows) == y
    assert ((membership_score(svc, rows, y) > 0) == right).all()
    with pytest.raises(InvalidParameter):
        membership_score(object(), rows)


def test_what_is_claimed_is_read_in_every_currency() -> None:
    assert epsilon_and_delta(PureDP(2)) == (2.0, 0.0)
    assert epsilon_and_delta(ApproxDP(2, 1e-6)) == (2.0, 1e-6)
    assert epsilon_and_delta(None) == (float("inf"), DELTA)
    epsilon, delta = epsilon_and_delta(ZCDP(0.5))
    assert delta == DELTA
    assert 3 < epsilon < 6


def test_ceilings_are_those_of_randomized_response() -> None:
    """Which reaches them: the curve of a coin that is right with e / (1 + e)."""
    q = np.e / (1 + np.e)
    curve = RocCurve(np.array([0, 1 - q, 1]), np.array([0, q, 1]))
    assert ceiling_auc(PureDP(1)) == pytest.approx(curve.auc)
    assert ceiling_at(PureDP(1), 1 - q) == pytest.approx(q)
    grid = np.linspace(0, 1, 20001)
    for claim in (ApproxDP(1, 0.1), ApproxDP(3, 0.01), ApproxDP(0, 0.2)):
        area = np.trapezoid([ceiling_at(claim, float(x)) for x in grid], grid)
        assert ceiling_auc(claim) == pytest.approx(area, abs=1e-4)
    assert ceiling_auc(None) == 1


def test_equal_scores_are_a_coin() -> None:
    inside = np.arange(100) % 2 == 0
    assert RocCurve.of(np.zeros(100), inside).auc == 0.5
    assert proven(np.full(1000, np.nan), np.arange(1000) % 2 == 0).floor == 0


def test_canaries_of_a_table_are_made_up() -> None:
    columns: dict[str, object] = {
        "age": {"type": "integer", "bounds": [0, 120]},
        "sex": {"type": "text", "keys": ["F", "M"]},
        "born": {"type": "date", "bounds": ["1950-01-01", "1950-01-31"]},
        "rich": "boolean",
    }
    table = Table("no-such.csv", columns=columns)
    with closing(Curator({"people": table}, budget=PureDP(1))) as curator:

        def make() -> Any:
            return LogisticRegression(1, 1e-5, steps=4)

        found = audit_table_canaries(curator, make, "people", ["age", "sex"], "rich", canaries=40, runs=2, rows=30)
        assert not found.violated
        assert found.samples == 80
        assert found.claim == ApproxDP(1, 1e-5)
        with pytest.raises(InvalidParameter):
            audit_table_canaries(curator, make, "people", ["born"], "rich")
        assert curator.history() == ()


def test_too_few_shadows_are_refused() -> None:
    with pytest.raises(InvalidParameter):
        attack_membership(lambda X, y: None, ROWS, LABELS, shadows=4)
