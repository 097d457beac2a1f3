"""Who runs a case: this project's interpreter, or a peer's own environment, made when it is first asked for.

Peers contradict each other's pins, so each has a requirements file in bench/peers and an environment in .bench.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from bench.cases import Code

ROOT = Path(__file__).parent.parent
PEERS = ROOT / "bench" / "peers"
OURS = "Curador"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)


class PeerMissing(Exception):
    """A peer that could not be installed here; reported, never fatal."""


def interpreter(side: str) -> Path:
    """The Python that runs a side, installing a peer whose requirements are new or changed."""
    if side == OURS:
        return Path(sys.executable)
    wanted = (PEERS / f"{side}.txt").read_text()
    home = ROOT / ".bench" / side
    python, stamp = home / "bin" / "python", home / "installed.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {side} …", flush=True)
        venv.create(home, clear=True, symlinks=True)
        done = subprocess.run(  # by our own pip, so that a peer's environment holds the peer and nothing else
            [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "-r", PEERS / f"{side}.txt"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise PeerMissing((done.stderr.strip().splitlines() or ["pip failed"])[-1])
        stamp.write_text(wanted)
    return python


def measure(python: Path, codes: Mapping[str, Code]) -> dict[str, float | str]:
    """One round of one side, in a fresh process with one thread: seconds per operation, or what went wrong."""
    done = subprocess.run(
        [python, ROOT / "bench" / "worker.py"],
        input=json.dumps({name: asdict(code) for name, code in codes.items()}),
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return dict.fromkeys(codes, (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
    answers: dict[str, float | str] = json.loads(done.stdout)
    return answers


def version(side: str, python: Path) -> str:
    """Name and version of a side's library, as installed."""
    name = "curador" if side == OURS else side
    code = f"from importlib.metadata import version; print(version({name!r}))"
    return f"{name} {subprocess.run([python, '-c', code], capture_output=True, text=True, check=True).stdout.strip()}"
