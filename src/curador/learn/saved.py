"""Models as JSON files: what was released and what was declared, and nothing else; no code is run when one is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from curador.accounting.events import event_from_json
from curador.curator.purchases.plain import CHARGING
from curador.errors import InvalidParameter
from curador.learn.model import PrivateModel
from curador.learn.rows.encoding import Encoding, KeyFeature, NumberFeature
from curador.learn.spent import ModelPrivacy
from curador.numbers import rational
from curador.privacy import Neighbors, guarantee_from_json

FORMAT = 1
KEPT_APART = ("encoding_", "privacy_", "feature_names_in_", "n_features_in_")


def to_json(model: PrivateModel) -> dict[str, Any]:
    """A fitted model as plain values."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    privacy: ModelPrivacy = model.privacy_
    settings = {name: x for name, x in model.get_params(deep=False).items() if name not in CHARGING}
    own = {n: x for n, x in vars(model).items() if n.endswith("_") and not n.startswith("_")}
    fitted = {n: x for n, x in own.items() if n not in KEPT_APART}
    return {
        "format": FORMAT,
        "model": type(model).__name__,
        "settings": {name: _out(x) for name, x in settings.items()},
        "features": [_feature(f) for f in model.encoding_.features],
        "named": model._named,
        "fitted": {name: _out(x) for name, x in fitted.items()},
        "privacy": {
            "guarantee": privacy.guarantee.to_json(),
            "event": privacy.event.to_json(),
            "neighbors": privacy.neighbors.value,
            "unit": privacy.unit,
            "charge": privacy.charge,
            "arrays": privacy.arrays,
        },
    }


def save(model: PrivateModel, path: str | Path) -> None:
    """Write a fitted model to a file; one that is there is replaced at once or not at all."""
    there = Path(path)
    made = there.with_name(f".{there.name}.part")
    made.write_text(json.dumps(to_json(model), ensure_ascii=False, indent=1), encoding="utf-8")
    made.replace(there)


def load(path: str | Path) -> PrivateModel:
    """Read a model that :func:`save` wrote."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidParameter(
            f"The model {Path(path).name!r} cannot be read: {error.strerror}.", fix="Check the path."
        ) from None
    except (ValueError, RecursionError):
        raise _not_a_model() from None
    return from_json(data)


def from_json(data: Mapping[str, Any]) -> PrivateModel:
    """Read back what :func:`to_json` wrote."""
    import curador.learn as learn

    try:
        if data["format"] != FORMAT:
            raise InvalidParameter("This model was written in another format.", fix="Fit it again, which is free.")
        kind = getattr(learn, str(data["model"])) if str(data["model"]) in dir(learn) else None
        if not (isinstance(kind, type) and issubclass(kind, PrivateModel)):
            raise _not_a_model()
        model: PrivateModel = kind(**{name: _in(x) for name, x in data["settings"].items()})
        model.encoding_ = Encoding(tuple(_feature_from(f) for f in data["features"]))
        model._named = bool(data["named"])
        model.n_features_in_ = len(model.encoding_.features)
        if model._named:
            model.feature_names_in_ = np.array([f.name for f in model.encoding_.features], dtype=object)
        for name, x in data["fitted"].items():
            if not name.isidentifier() or not name.endswith("_") or name.startswith("_") or name in KEPT_APART:
                raise _not_a_model()
            setattr(model, name, _in(x))
        told = data["privacy"]
        model.privacy_ = ModelPrivacy(
            guarantee_from_json(told["guarantee"]),
            event_from_json(told["event"]),
            Neighbors(told["neighbors"]),
            told["unit"],
            told["charge"],
            bool(told.get("arrays", told["charge"] is None)),
        )
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError, OverflowError, MemoryError):
        raise _not_a_model() from None
    return model


def _not_a_model() -> InvalidParameter:
    return InvalidParameter("This is not a model as save() writes it.", fix="Use save().")


def _feature(feature: NumberFeature | KeyFeature) -> dict[str, Any]:
    return {f.name: _out(getattr(feature, f.name)) for f in fields(feature)}


def _feature_from(data: Mapping[str, Any]) -> NumberFeature | KeyFeature:
    read = {name: _in(x) for name, x in data.items()}
    return KeyFeature(**read) if "keys" in data else NumberFeature(**read)


def _out(x: Any) -> Any:
    """A value as JSON that :func:`_in` reads back as the same type."""
    if isinstance(x, np.ndarray):
        return {"array": [_out(v) for v in x.ravel().tolist()], "shape": list(x.shape), "dtype": x.dtype.str}
    if isinstance(x, np.generic):
        return _out(x.item())
    if isinstance(x, tuple):
        return {"tuple": [_out(v) for v in x]}
    if isinstance(x, list):
        return [_out(v) for v in x]
    if isinstance(x, Mapping):
        return {"pairs": [[_out(k), _out(v)] for k, v in x.items()]}
    if isinstance(x, Fraction):
        return {"fraction": str(x)}
    if isinstance(x, date):
        return {"date": x.isoformat()}
    if x is None or isinstance(x, bool | int | float | str):
        return x
    raise InvalidParameter(f"A {type(x).__name__} cannot be saved with a model.", fix="Use plain values.")


def _in(x: Any) -> Any:
    if isinstance(x, list):
        return [_in(v) for v in x]
    if not isinstance(x, Mapping):
        return x
    if "array" in x:
        kind = np.dtype(str(x["dtype"]))
        if kind.kind not in "biufUO" or kind.itemsize > 4 * 1000:
            raise ValueError("no type of a fitted array")
        made = np.array([_in(v) for v in x["array"]], dtype=kind)
        return made.reshape([int(n) for n in x["shape"]])
    if "tuple" in x:
        return tuple(_in(v) for v in x["tuple"])
    if "pairs" in x:
        return {_in(k): _in(v) for k, v in x["pairs"]}
    if "fraction" in x:
        return rational(str(x["fraction"]), "a setting")
    return date.fromisoformat(x["date"])
