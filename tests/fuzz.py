"""What ``make fuzz`` runs: the tests that need no server, with a fresh seed in each round, until the time is up."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time


def main(minutes: float, arguments: list[str]) -> int:
    until, rounds = time.time() + 60 * minutes, 0
    while not rounds or time.time() < until:
        rounds, seed = rounds + 1, secrets.randbits(32)
        print(f"round {rounds}: run seed {seed}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-m", "not slow"]
        done = subprocess.run(
            [*command, f"--run-seed={seed}", f"--fuzz-until={until}", *arguments],
            env={
                **os.environ,
                "PYTHONHASHSEED": str(seed),
                "CI": "",
            },  # what begins too late is skipped, which CI forbids
            check=False,
        )
        if done.returncode:
            return done.returncode
    print(f"Nothing was found. Rounds: {rounds}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
