"""A question as code: in Python, on the command line and with curl; with the token in a variable, never in the text."""

from __future__ import annotations

import json
import shlex
from typing import Any

from curador.server.bodies import QuestionBody

EXAMPLES = """\
SELECT COUNT(*) AS n FROM staff WHERE age >= 30 AND sector = 'health'
SELECT sector, COUNT(*) AS n FROM staff GROUP BY sector
SELECT sector, AVG(pay) AS mean, SUM(pay) AS total FROM staff GROUP BY sector
SELECT MEDIAN(pay) AS m, QUANTILE(pay, 0.9) AS p90 FROM staff
SELECT AVG(CASE WHEN pay > 3000 THEN 1 ELSE 0 END) AS share FROM staff
SELECT BIN(pay, 0, 1000, 2000, 5000) AS pay_range, COUNT(*) AS n FROM staff GROUP BY pay_range
SELECT HISTOGRAM(pay, 0, 1000, 2000, 5000) AS n FROM staff"""
"""What SQL can be written, by a few questions."""


def code_of(body: QuestionBody, address: str, because: str = "", *, anyway: bool = False) -> dict[str, str]:
    """The same question at the same price, as each door takes it."""
    sql = body.sql or ""
    price: dict[str, Any] = {"epsilon": body.epsilon, "delta": body.delta}
    python = [f"{name}={value!r}" for name, value in price.items() if value is not None]
    options = [f"--{name} {shlex.quote(str(value))}" for name, value in price.items() if value is not None]
    sent: dict[str, Any] = {"sql": sql} | {name: value for name, value in price.items() if value is not None}
    imported = "connect"
    if body.accuracy is not None:
        imported = "connect, within"
        python.append(f"accuracy=within({body.accuracy.error!r}, {body.accuracy.confidence!r})")
        options.append(f"--accuracy {shlex.quote(str(body.accuracy.error))}")
        sent["accuracy"] = {"error": body.accuracy.error, "confidence": body.accuracy.confidence}
    for name, value, usual in (
        ("confidence", body.confidence, 0.95),
        ("rows", body.rows, None),
        ("because", because, ""),
    ):
        if value != usual:
            python.append(f"{name}={value!r}")
            options.append(f"--{name} {shlex.quote(str(value))}")
            sent[name] = value
    if anyway:
        python.append("anyway=True")
        options.append("--anyway")
        sent["anyway"] = True
    body_text = json.dumps(sent, ensure_ascii=False)
    return {
        "python": (
            f"import os\nfrom curador import {imported}\n\n"
            f'curator = connect({address!r}, os.environ["CURADOR_TOKEN"])\n'
            f"release = curator.ask(\n    {sql!r},\n    {', '.join(python)},\n)\nprint(release)"
        ),
        "sql": sql,
        "shell": f"curador ask {shlex.quote(sql)} {' '.join(options)} --at {shlex.quote(address)}",
        "curl": (
            f"curl {shlex.quote(address + '/v1/ask')} \\\n"
            "  -H \"Authorization: Bearer $CURADOR_TOKEN\" -H 'Content-Type: application/json' \\\n"
            f"  -d {shlex.quote(body_text)}"
        ),
    }
