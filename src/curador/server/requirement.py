"""Refuses to load without FastAPI, with one message."""

from curador.errors import InvalidParameter, install

try:
    import argon2  # noqa: F401
    import fastapi  # noqa: F401
    import jinja2  # noqa: F401
    import python_multipart  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise InvalidParameter(
        f"Serving a study needs {error.name}.", fix=install("server"), code="library-missing"
    ) from None
