"""Refuses to load without the package mcp, with one message."""

from curador.errors import InvalidParameter, install

try:
    import mcp  # noqa: F401
except ImportError as error:
    raise InvalidParameter(
        f"Letting an agent ask needs {error.name}.", fix=install("mcp"), code="library-missing"
    ) from None
