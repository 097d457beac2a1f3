"""A model as code: in Python, on the command line, as a file; with the token in a variable, never in the text."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import tomlkit


def recipe_code(recipe: Mapping[str, Any], address: str, because: str = "") -> dict[str, str]:
    """The same model, as each door takes it.

    >>> made = recipe_code({"model": "GaussianNB", "table": "people", "features": ["age"], "label": "sex",
    ...     "settings": {"epsilon": "0.5"}}, "https://data.example")
    >>> print(made["toml"])
    model = "GaussianNB"
    table = "people"
    features = ["age"]
    label = "sex"
    <BLANKLINE>
    [settings]
    epsilon = "0.5"
    """
    order = ("model", "table", "features", "label", "where", "rows_per_unit")
    stated = {name: recipe[name] for name in order if name in recipe}
    settings = dict(recipe.get("settings", {}))
    made = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    given = [f"    {name}={value!r}," for name, value in stated.items() if name not in ("model", "table")]
    if because:
        given.append(f"    because={because!r},")
    reason = f" --because {shlex.quote(because)}" if because else ""
    return {
        "python": (
            f"import os\nfrom curador import connect\nfrom curador.learn import {stated['model']}\n\n"
            f'curator = connect({address!r}, os.environ["CURADOR_TOKEN"])\n'
            f"model = curator.fit(\n    {stated['model']}({made}),\n    {stated['table']!r},\n"
            + "\n".join(given)
            + "\n)\nprint(model.privacy_)"
        ),
        "shell": f"curador fit model.toml --explain\ncurador fit model.toml{reason}",
        "toml": tomlkit.dumps({**stated, "settings": settings}).strip(),
    }
