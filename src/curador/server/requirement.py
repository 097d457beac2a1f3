"""Refuses to load without FastAPI, with one message."""

from curador.errors import InvalidParameter

try:
    import argon2  # noqa: F401
    import fastapi  # noqa: F401
    import jinja2  # noqa: F401
    import python_multipart  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise InvalidParameter(
        f"Serving a study needs {error.name}.", fix="Run: pip install 'curador[server]'", code="library-missing"
    ) from None
