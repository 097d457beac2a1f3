"""The only message if scikit-learn is missing, raised when :mod:`curador.local.learn` is imported."""

from importlib.util import find_spec

from curador.errors import CuradorError, install

if find_spec("sklearn") is None:
    raise CuradorError("Local learning needs scikit-learn, which is not installed.", fix=install("learn"))
