"""The one message of a missing scikit-learn, raised when :mod:`curador.learn` is imported."""

from importlib.util import find_spec

from curador.errors import CuradorError, install

if find_spec("sklearn") is None:
    raise CuradorError(
        "Learning needs scikit-learn, which is not installed.",
        fix=install("learn"),
        code="library-missing",
    )
