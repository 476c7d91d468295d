"""Where things are: the project of somebody who names none, and what comes with goldgrade besides `curation`.

Until November 2026 goldgrade was called goldset; what people named then is still read.

In a clone `app`, `labeling_guides` and `data/sample` are at its top. An installed goldgrade has them inside
its package `goldgrade`, because people have modules called `app` of their own. Only the process that serves
puts this folder on its path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

VARIABLES = ("GOLDGRADE_PROJECT", "GOLDSET_PROJECT")
"""The environment variables that name a project's file; the first that is set counts."""
DEFAULTS = (Path("data/goldgrade.duckdb"), Path("data/goldset.duckdb"))
FORMER_PREFIX, PREFIX = "GOLDSET_", "GOLDGRADE_"

_TOP = Path(__file__).resolve().parents[2]
_INSTALLED = _TOP / "goldgrade" / "shipped"
HOME = _INSTALLED if _INSTALLED.is_dir() else _TOP
GUIDES = HOME / "labeling_guides"
SAMPLE = HOME / "data" / "sample"


def named_project(environment: Mapping[str, str] | None = None) -> Path:
    """The project's file by the environment, else the default file that exists, else the first default."""
    values = os.environ if environment is None else environment
    named = next((values[variable] for variable in VARIABLES if values.get(variable)), None)
    if named is not None:
        return Path(named)
    return next((path for path in DEFAULTS if path.exists()), DEFAULTS[0])


def former_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable of the former name that is set and not read any more."""
    for variable in sorted(environment):
        now = variable.replace(FORMER_PREFIX, PREFIX, 1)
        if variable.startswith(FORMER_PREFIX) and variable not in VARIABLES and now not in environment:
            yield f"{variable} is not read any more: goldset is called goldgrade now. Set {now} instead."
