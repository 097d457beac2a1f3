"""Refuses to load without the package mcp, with one message."""

from curador.errors import InvalidParameter

try:
    import mcp  # noqa: F401
except ImportError as error:
    raise InvalidParameter(
        f"Letting an agent ask needs {error.name}.", fix="Run: pip install 'curador[mcp]'", code="library-missing"
    ) from None
