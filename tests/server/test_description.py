"""The server against its own OpenAPI description: no failure, no response that is not described."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from curador.server.app import ROUTES
from tests.server.served import serving, write_study

LEFT_OUT = "positive_data_acceptance,ignored_auth"
"""A text that is no SQL is described and refused; and without a token some routes are open, as they say."""


@pytest.mark.slow
def test_every_response_is_as_described(tmp_path: Path) -> None:
    with serving(write_study(tmp_path), per_token=10**6, per_address=10**6) as served:
        shown = ["-H", f"Authorization: Bearer {served.tokens['curator']}"]
        command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{served.url}/v1/openapi.json", *shown]
        options = ["--max-examples=8", "--seed=1", f"--exclude-checks={LEFT_OUT}", "--phases=coverage,fuzzing"]
        done = subprocess.run(
            [*command, *options, "--generation-database=none"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stdout[-6000:]
    assert f"Tested: {sum(len(route.methods or ()) for route in ROUTES)}" in done.stdout
