"""What every test shares: real engines, and no skipping where CI checks."""

from __future__ import annotations

import functools
import os
from collections.abc import Generator

import pytest
import typer.main
import typer.testing

from tests.real_engines import engine_name, opened, pooled_url, postgres_url, spark_session  # noqa: F401  fixtures

# Commands are made from the functions' signatures once in a process, as for a user, not once for each line of a test.
typer.main.get_command = typer.testing._get_command = functools.cache(typer.main.get_command)  # type: ignore[attr-defined]


class NoSkips:
    """Turns a skipped test into a failed one that says why it was skipped."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if not hasattr(report, "wasxfail"):  # an expected failure ran; it only looks like a skip
            _fail_if_skipped(report)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        _fail_if_skipped(report)
        return report


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"CI=true forbids skipping, and this was skipped: {reason}"


def pytest_configure(config: pytest.Config) -> None:
    # Registered as a plugin because a conftest's own hooks see only its folder, and doctests live in src/.
    if os.environ.get("CI") == "true":
        config.pluginmanager.register(NoSkips(), "no-skips")
