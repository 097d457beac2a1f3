"""What a model is told about arrays: bounds, keys and classes; and arrays read by it, row by row.

Only what depends on the shape or the type of an array is refused.  What depends on a value is mapped: what is no number
is the middle of its bounds, a key that is not declared is none of them, and a row whose label is none of the classes is
left out.  An error that depends on a value would say whether somebody is in the data.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from curador.errors import InvalidParameter, InvalidValue
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import Encoding, Floats, KeyFeature, NumberFeature, codes

Bounds = tuple[float, float] | Sequence[tuple[float, float]] | Mapping[str, tuple[float, float]]
"""One pair (low, high) for all features, a pair for each, or pairs by name."""

Keys = Mapping[str, Sequence[object]]
"""The public keys of the columns that hold keys, by name."""


def columns_of(X: Any) -> tuple[tuple[str, ...], bool]:
    """The names of the columns of a frame, or x0, x1, … of an array; and whether they are named."""
    if hasattr(X, "tocsr"):
        raise InvalidValue("Sparse data are not read: sparse input is not supported.", fix="Use X.toarray().")
    named = getattr(X, "columns", None)
    if named is not None:
        names = tuple(named)
        if all(isinstance(name, str) for name in names):
            if len(set(names)) < len(names):
                raise InvalidValue("Two columns of X have one name.", fix="Name each of them once.")
            return names, True
    X = _own_array(X)
    shape = getattr(X, "shape", None)
    if shape is None:
        shape = _listed_shape(X)
    if len(shape) != 2:
        raise InvalidValue(
            f"Expected a 2D array of rows and features, got one of {len(shape)} dimensions. Reshape your data.",
            fix="Give one row for each unit, one column for each feature.",
        )
    if shape[1] == 0:
        raise InvalidValue(
            f"Found array with 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required.",
            fix="Give at least one column.",
        )
    return tuple(f"x{i}" for i in range(shape[1])), False


def declared_keys(keys: Any) -> dict[str, tuple[object, ...]]:
    """The keys that were declared, by column; refused where they are something else than lists by name."""
    if keys is None:
        return {}
    if not isinstance(keys, Mapping) or not all(isinstance(values, Iterable) for values in keys.values()):
        raise InvalidParameter(
            "Keys are declared by the name of their column, a list for each.",
            fix='Give keys={"sex": ["F", "M"]}, or leave them out.',
            code="settings-refused",
        )
    return {name: tuple(values) for name, values in keys.items()}


def encoding_for(names: Sequence[str], bounds: Bounds | None, keys: Keys | None) -> Encoding:
    """The features of an array's columns, from what was declared about them.

    >>> encoding_for(["age", "sex"], {"age": (0, 100)}, {"sex": ["F", "M"]}).columns
    ('age', 'sex=F', 'sex=M', '1')
    """
    keyed = declared_keys(keys)
    numbers = [name for name in names if name not in keyed]
    if unknown := sorted(set(keyed) - set(names)):
        raise InvalidParameter(f"There are keys of {unknown[0]!r}, which is no column of X.", fix="Name the columns.")
    pairs = _pairs(numbers, bounds)
    features: list[NumberFeature | KeyFeature] = []
    for name in names:
        if name in keyed:
            features.append(KeyFeature(name, keyed[name]))
        else:
            low, high = pairs[name]
            features.append(NumberFeature(name, float(low), float(high)))
    return Encoding(tuple(features))


def _pairs(names: Sequence[str], bounds: Any) -> dict[str, tuple[float, float]]:
    if not names:
        return {}
    refusal = InvalidParameter(
        "The bounds of every feature have to be declared: a pair (low, high), one for each, or pairs by name.",
        fix="Give bounds=, chosen without looking at the data; keys= for columns that hold keys.",
    )
    if bounds is None:
        raise refusal
    if isinstance(bounds, Mapping):
        if missing := [name for name in names if name not in bounds]:
            raise InvalidParameter(f"{missing[0]!r} has no bounds.", fix="Declare them, or its keys.")
        found = [bounds[name] for name in names]
    else:
        found = list(bounds)
        if len(found) == 2 and all(np.isscalar(end) for end in found):
            found = [tuple(found)] * len(names)
    if len(found) != len(names) or any(len(tuple(pair)) != 2 for pair in found):
        raise refusal
    return {name: (float(low), float(high)) for name, (low, high) in zip(names, found, strict=True)}


def design_of(X: Any, encoding: Encoding, named: bool, who: str = "this model") -> Design:
    """The rows of an array or a frame by an encoding.  Refused are other columns than those, and other types."""
    names, has_names = columns_of(X)
    wanted = [f.name for f in encoding.features]
    if has_names and named:
        if missing := [name for name in wanted if name not in names]:
            raise InvalidValue(
                f"The feature names should match those that were passed during fit: {missing[0]!r} is missing.",
                fix="Give all columns that the model learned from.",
            )
        columns = [X[name] for name in wanted]
    else:
        if len(names) != len(wanted):
            raise InvalidValue(
                f"X has {len(names)} features, but {who} is expecting {len(wanted)} features as input.",
                fix="Give the columns it learned from, in that order.",
            )
        columns = listed_columns(X, len(wanted))
    numbers = []
    coded = []
    for feature, values in zip(encoding.features, columns, strict=True):
        if isinstance(feature, NumberFeature):
            numbers.append(feature.encoded(as_numbers(values)))
        else:
            coded.append(codes(_objects(values), feature.keys).astype(np.int16))
    rows = len(numbers[0] if numbers else coded[0])
    return Design(
        encoding,
        np.stack(numbers, axis=1) if numbers else np.zeros((rows, 0), np.int16),
        np.stack(coded, axis=1) if coded else np.zeros((rows, 0), np.int16),
    )


def _objects(values: Any) -> list[Any]:
    """The cells of a column as they are; texts of a frame all at once, which is faster than asking for each."""
    return list(values.tolist() if getattr(getattr(values, "dtype", None), "kind", "") == "O" else values)


def _own_array(given: Any) -> Any:
    """What says itself which array it is, as that array; else as it is."""
    plain = hasattr(given, "__array__") and not hasattr(given, "dtype") and not hasattr(given, "iloc")
    return np.asarray(given) if plain else given


def _listed_shape(X: Any) -> tuple[int, ...]:
    """The shape of rows in a list: of the rows themselves, whatever is in their cells."""
    if isinstance(X, str | bytes) or not hasattr(X, "__len__"):
        raise InvalidValue("X is no array of rows and features.", fix="Give one row for each unit.")
    rows = list(X)
    if not rows:
        return (0, 0)
    if any(isinstance(row, str | bytes) or not hasattr(row, "__len__") for row in rows):
        return (len(rows),)
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise InvalidValue("The rows of X have several lengths.", fix="Give all features in each row.")
    return (len(rows), widths.pop())


def listed_columns(X: Any, width: int) -> list[Any]:
    """The columns of an array as they are; of rows in a list each cell as it is, for one would change them all."""
    X = _own_array(X)
    if hasattr(X, "iloc"):
        return [X.iloc[:, i] for i in range(width)]
    if hasattr(X, "dtype"):
        array = np.asarray(X)
        return [array[:, i] for i in range(width)]
    rows = list(X)
    return [cells(row[i] for row in rows) for i in range(width)]


def cells(values: Iterable[Any]) -> NDArray[np.object_]:
    """Values as they are, each by itself: an array of them would take one type from all."""
    listed = list(values)
    found = np.empty(len(listed), object)
    for i, value in enumerate(listed):
        found[i] = value
    return found


def as_numbers(values: Any) -> Floats:
    """A column as doubles; NaN for what is no number.  Refused where its type says that none is a number."""
    if isinstance(values, np.ma.MaskedArray):
        hidden: Any = values.astype(object)
        values = hidden.filled(None)
    array = np.asarray(values) if hasattr(values, "dtype") else cells(values)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    if array.dtype.kind == "c":
        raise InvalidValue("Complex data not supported.", fix="Give real numbers.")
    if array.dtype.kind != "O":
        raise InvalidValue("A feature with bounds holds no numbers.", fix="Declare keys for it, or give numbers.")
    found = np.full(len(array), np.nan)
    for i, value in enumerate(array):
        try:
            found[i] = float(value)
        except Exception:  # noqa: BLE001  whatever a cell does, it is no number
            continue
    return found


def declared_classes(classes: Any) -> NDArray[Any]:
    """The classes as an array, sorted; two at least, all different, all texts or all numbers.

    >>> declared_classes(["yes", "no"]).tolist()
    ['no', 'yes']
    """
    named = [] if classes is None or isinstance(classes, str) else list(classes)
    texts = [isinstance(one, str) for one in named]
    if len(named) < 2 or len(set(named)) < len(named) or (any(texts) and not all(texts)):
        raise InvalidParameter(
            "The classes have to be declared: two or more different texts or numbers.",
            fix="Give classes=, as in [0, 1]; they are never read from the data.",
        )
    return np.unique(np.asarray(named))


def labels_array(y: Any) -> NDArray[Any]:
    """Labels as they are: those in a list each by itself."""
    y = _own_array(y)
    if hasattr(y, "dtype") or hasattr(y, "iloc"):
        return np.asarray(y)
    if isinstance(y, str | bytes) or not hasattr(y, "__len__"):
        raise InvalidValue("y is no array of labels.", fix="Give one label for each row.")
    return cells(y)


def labels_of(y: Any, classes: NDArray[Any], rows: int) -> NDArray[np.int32]:
    """The number of each label among the classes; -1 for others.

    Fails: refused where the type of the array says that no label is a class.  Of objects, as in a list, each label is
        read by itself: an error would depend on rows.
    """
    if y is None:
        raise InvalidValue("This model requires y to be passed, but the target y is None.", fix="Give the labels.")
    array = labels_array(y)
    if array.ndim == 2 and array.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning, stacklevel=4)
        array = array[:, 0]
    if array.ndim != 1 or len(array) != rows:
        raise InvalidValue(
            f"y should be a 1d array of {rows} labels, got an array of shape {array.shape} instead.",
            fix="Give one label for each row.",
        )
    _require_type(_type_of(array, y), classes)
    return codes(array.tolist(), classes.tolist())


def _type_of(array: NDArray[Any], given: Any) -> str:
    """What labels are by the type of their array alone; "objects" where each is of a type of its own."""
    if str(getattr(given, "dtype", "")).lower().startswith(("str", "utf8")):  # of pandas, polars and NumPy
        return "texts"
    return {"U": "texts", "O": "objects", **dict.fromkeys("fiubc", "numbers")}.get(array.dtype.kind, "other values")


def _require_type(found: str, classes: NDArray[Any]) -> None:
    """Refuse labels that are no classes by their type: all rows would be left out, and the model be noise."""
    wanted = {"U": "texts", **dict.fromkeys("fiub", "numbers")}.get(classes.dtype.kind)
    if wanted is not None and found not in (wanted, "objects"):
        raise InvalidValue(
            f"The labels are {found}, and the declared classes are {wanted}: no label is a class.",
            fix="Convert the labels, or declare classes of their type.",
            code="labels-of-another-type",
            facts={"found": found, "wanted": wanted},
        )
