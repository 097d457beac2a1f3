"""For all that pytest runs, doctests in src/ and files in bench/ too: the same bytes every time, long grids in part."""

pytest_plugins = ["tests.seeded", "tests.thin"]
