"""For all that pytest runs, doctests in src/ and files in bench/ too: the same bytes every time."""

pytest_plugins = ["tests.seeded"]
