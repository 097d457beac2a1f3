"""The order of pages in the menu: for readers first, by what they came for; then reference, proofs, and the project."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

HOW_TO = {
    "Curators": ["curators-first-hour", "first-query", "serve-a-study", "restore-a-ledger"],
    "Analysts": ["analysts-first-hour", "let-an-agent-ask"],
    "Machine-learning engineers": ["train-a-model", "local-learning"],
    "Owners of telemetry": ["ask-people", "collect-reports"],
    "Teachers": ["teachers-first-hour"],
    "Auditors": ["auditors-first-hour", "attack-it-yourself"],
    "Developers": ["developers-first-hour"],
}
"""Pages of how-to/ by who reads them."""

REFERENCE = ["sql", "study-file", "command-line", "http", "report", "wire", "errors"]
PROJECT = ["README.md", "README.es.md", "ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"]
API = ["curador", "curador.accounting", "curador.local", "curador.learn", "curador.audit"]


def course(language: str) -> list[str]:
    """The pages of the course that are there, in their order, and its notebooks."""
    listed = tomllib.loads((DOCS / "course" / "pages.toml").read_text())["pages"]
    pages = [f"course/{language}/{name}.md" for name in listed]
    return [page for page in pages if (DOCS / page).is_file()]


def notebooks(language: str) -> list[str]:
    """Those that name a language in their path, and in English those that name none."""
    found = sorted(file.relative_to(DOCS).as_posix() for file in (DOCS / "course" / "notebooks").rglob("*.md"))
    spanish = [page for page in found if "/es/" in page or page.endswith(".es.md")]
    return spanish if language == "es" else [page for page in found if page not in spanish]


def folder(name: str) -> list[str]:
    return sorted(file.relative_to(DOCS).as_posix() for file in (DOCS / name).glob("*.md"))


def nav() -> list[Any]:
    """What MkDocs takes for the menu; a page without a name here has that of its first heading."""
    from repository import placed

    project = [placed(name) for name in PROJECT if (ROOT / name).is_file()]
    spanish = {"README.es.md"}
    mine = [placed(name) for name in PROJECT if name in spanish and (ROOT / name).is_file()]
    parts: list[Any] = [
        {"Start": "index.md"},
        {"How to": [{who: [f"how-to/{page}.md" for page in pages]} for who, pages in HOW_TO.items()]},
        {"Course": [*course("en"), *_named("Notebooks", notebooks("en")), "course/map.md", "course-errata.md"]},
        {
            "Reference": [
                *(f"reference/{page}.md" for page in REFERENCE),
                {"Limits": folder("reference/limits")},
                {"Python": [{name: f"api/{name}.md"} for name in API]},
                "accounting.md",
                "adaptive.md",
            ]
        },
        {
            "Evidence": [
                "audit.md",
                "audit-demos.md",
                "audit-models.md",
                "audit-findings.md",
                "benchmarks.md",
                {"Proofs": folder("proofs")},
            ]
        },
        {
            "Project": [
                *(_titled(p) for p in project if p not in mine),
                {"Decisions": folder("decisions")},
                "references.md",
            ]
        },
        {"Inicio": "es/index.md"},
    ]
    if spanish_course := [*course("es"), *_named("Cuadernos", notebooks("es"))]:
        parts.append({"Curso": spanish_course})
    return [*parts, *({"Proyecto": [page]} for page in mine)]


def _titled(page: str) -> Any:
    """A name where the page's own heading says too little."""
    names = {"project/readme.md": "Read me", "project/license.md": "License"}
    return {names[page]: page} if page in names else page


def _named(name: str, pages: list[str]) -> list[Any]:
    return [{name: pages}] if pages else []
