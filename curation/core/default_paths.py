"""Default paths of the project file and of the files that come with goldgrade.

Until November 2026 goldgrade was called goldset. The environment variable and the project file with the
former name are still read.

In a clone, `app`, `labeling_guides` and `data/sample` are top-level folders. An installed goldgrade has them
in its package `goldgrade`, because users may have their own modules called `app`. Only the process that
serves the app puts this folder on the import path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

# Environment variables with the path of the project file; the first variable that is set counts
VARIABLES = ("GOLDGRADE_PROJECT", "GOLDSET_PROJECT")
DEFAULTS = (Path("data/goldgrade.duckdb"), Path("data/goldset.duckdb"))
FORMER_PREFIX, PREFIX = "GOLDSET_", "GOLDGRADE_"

_TOP = Path(__file__).resolve().parents[2]
_INSTALLED = _TOP / "goldgrade" / "shipped"
HOME = _INSTALLED if _INSTALLED.is_dir() else _TOP
GUIDES = HOME / "labeling_guides"
SAMPLE = HOME / "data" / "sample"


def find_project_file(environment: Mapping[str, str] | None = None) -> Path:
    """Find the project file: the one named in the environment, otherwise an existing default file, otherwise
    the first default."""
    values = os.environ if environment is None else environment
    value = next((values[variable] for variable in VARIABLES if values.get(variable)), None)
    if value is not None:
        return Path(value)
    return next((path for path in DEFAULTS if path.exists()), DEFAULTS[0])


def describe_former_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each environment variable that is set under a former name, which is no longer
    read."""
    for variable in sorted(environment):
        new_name = variable.replace(FORMER_PREFIX, PREFIX, 1)
        if variable.startswith(FORMER_PREFIX) and variable not in VARIABLES and new_name not in environment:
            yield (
                f"{variable} is no longer read, because goldset is now called goldgrade. Set {new_name} "
                "instead."
            )
