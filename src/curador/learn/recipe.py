"""A model described in a TOML file: which model with which guarantee, from which columns of which table.

```toml
model = "LogisticRegression"
table = "adult"
features = ["age", "sex"]       # or a table of names and expressions
label = "income"
where = "age >= 18"             # may be left out
rows_per_unit = 2               # may be left out

[settings]
epsilon = 1
delta = "1e-5"
```
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from curador.curator.curator import Curator
from curador.curator.purchases.plain import CHARGING, from_note
from curador.curator.purchases.training import TrainingRun
from curador.curator.releases.recall import bought_by, declarations, is_what_was_bought, not_recalled
from curador.curator.table import CuratorTable
from curador.errors import InvalidParameter, QuestionRefused
from curador.learn.model import PrivateModel

if TYPE_CHECKING:
    from curador.curator.releases.recall import Declarations

FORMER: tuple[Mapping[str, Any], ...] = ({}, {"steps": 16, "clip": 3}, {"steps": 5}, {"steps": 0})
"""What earlier versions took where it was not said; what they sold is known again by it."""

KNOWN = ("model", "table", "features", "label", "where", "rows_per_unit", "settings")


@dataclass(frozen=True)
class ModelFile:
    """A model, and what it is to be learned from."""

    model: PrivateModel
    table: str
    features: Sequence[str] | Mapping[str, str]
    label: str | None = None
    where: str | None = None
    rows_per_unit: int | None = None
    stated: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def rows(self, curator: Declarations, table: str | None = None, where: str | None = None) -> CuratorTable:
        """The rows that it is learned from, or those of another table, or that another condition chooses."""
        condition = where if where is not None or table is not None else self.where
        rows = curator.table(table or self.table)
        return rows if condition is None else rows.where(condition)

    def training(self, curator: Declarations) -> TrainingRun:
        """The training run of a curator's table; free.  Its charge keeps what is stated here: see bought_model()."""
        limit, rows = self.rows_per_unit, self.rows(curator)
        run = curator.training(self.model, rows, features=self.features, label=self.label, contribution=limit)
        return replace(run, recipe=self.stated)


def read_recipe(path: str | Path) -> ModelFile:
    """Read a recipe; refused, with the name of what is wrong."""
    name = Path(path).name
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidParameter(f"{name!r} cannot be read: {error.strerror}.", fix="Check the path.") from None
    except ValueError as error:
        raise InvalidParameter(f"{name!r} is not TOML: {error}.", fix="Mend that line.") from None
    return recipe_from(data, name)


def recipe_from(data: Mapping[str, Any], name: str) -> ModelFile:
    """A recipe of plain values, called ``name`` where something is wrong with it."""
    if unknown := sorted(set(data) - set(KNOWN)):
        raise InvalidParameter(f"{name!r} has an unknown entry {unknown[0]!r}.", fix=f"Use {', '.join(KNOWN)}.")
    features: Any = data.get("features")
    texts = features.values() if isinstance(features, dict) else features
    right = isinstance(features, list | dict) and all(isinstance(x, str) for x in texts or ())
    if not right or not isinstance(data.get("table"), str):
        raise InvalidParameter(
            f"{name!r} needs a table, and features: a list of columns, or names and expressions.",
            fix='Write table = "…" and features = ["…"].',
        )
    for entry, kind in (("label", str), ("where", str), ("rows_per_unit", int)):
        if entry in data and not isinstance(data[entry], kind):
            raise InvalidParameter(f"{entry!r} in {name!r} is not {kind.__name__}.", fix="Mend that line.")
    model = model_named(data.get("model"), data.get("settings", {}))
    return ModelFile(
        model, data["table"], features, data.get("label"), data.get("where"), data.get("rows_per_unit"), dict(data)
    )


def model_named(name: object, settings: Any) -> PrivateModel:
    """The model of a name with these settings."""
    import curador.learn as learn

    public = {n: getattr(learn, n) for n in dir(learn)}
    kinds = [n for n, kind in public.items() if isinstance(kind, type) and issubclass(kind, PrivateModel)]
    if name not in kinds:
        raise InvalidParameter(f"No model is called {name!r}.", fix=f"Use {', '.join(kinds)}.")
    kind = public[str(name)]
    known = set(kind._get_param_names()) - set(CHARGING)
    if not isinstance(settings, Mapping) or (unknown := sorted(set(settings) - known)):
        wrong = unknown[0] if isinstance(settings, Mapping) else "settings"
        raise InvalidParameter(f"{name} has no setting {wrong!r}.", fix=f"Use {', '.join(sorted(known))}.")
    made: PrivateModel = kind(**settings)
    return made


@dataclass(frozen=True)
class BoughtModel:
    """A model that was bought by its recipe, what was measured for it, and the types its columns had then."""

    recipe: ModelFile
    model: PrivateModel
    measurement: bytes
    kinds: Mapping[str, str]


def bought_model(
    curator: Curator, charge: str, analyst: str | None = None, settings: Mapping[str, Any] = MappingProxyType({})
) -> BoughtModel | None:
    """The model that a charge bought, made again from the ledger alone; None if there is none, or it is another's.

    ``settings`` may be others than were bought where they are no part of the measurement: the penalty of a regression
    (``alpha``, which makes a plain one a ridge), how many components are shown.

    It is read under the declarations that it was bought under, whatever is declared now.

    Fails: refused (code ``not-recalled``) where its settings or its rows were not plain, or an older version kept it
        and the declarations are others now.
    """
    bought = bought_by(curator, charge, analyst)
    if bought is None:
        return None
    stated = bought.charge.note.get("recipe")
    if not isinstance(stated, Mapping) or not set(stated) <= set(KNOWN):
        raise not_recalled(charge)
    for former in FORMER:
        with suppress(InvalidParameter, QuestionRefused):  # not plain; of an older version, declared otherwise now
            recipe = recipe_from(_otherwise(from_note(stated), settings, former), "recipe")
            then = declarations(curator, bought)
            run = recipe.training(then)
            if is_what_was_bought(curator, run, bought):
                columns = then.tables[recipe.table].columns if recipe.table in then.tables else {}
                kinds = {name: column.kind.value for name, column in columns.items()}
                return BoughtModel(recipe, recipe.model.take(run, bought), bought.measurement, kinds)
    raise not_recalled(charge)


def _otherwise(stated: Mapping[str, Any], settings: Mapping[str, Any], former: Mapping[str, Any]) -> Mapping[str, Any]:
    """A recipe with other settings; whether it is still what was bought is for its digest to say."""
    ridge = {"model": "Ridge"} if "alpha" in settings and stated.get("model") == "LinearRegression" else {}
    return {**stated, **ridge, "settings": {**former, **stated.get("settings", {}), **settings}}
