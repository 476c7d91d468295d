"""Every step that a command and a page start: its record, by name.

A step's module is imported when the step is asked for: what its work needs takes seconds to import.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from curation.step import Step

_MODULES = {
    "check file": "importing",
    "import": "importing",
    "sample": "sampling",
    "top up": "sampling",
    "tags": "sampling",
    "pool": "pooling",
    "coverage": "measuring",
    "split preview": "splitting",
    "split": "splitting",
    "freeze": "freezing",
    "export": "freezing",
    "evaluate": "evaluating",
    "plan re-labeling": "renewing",
    "relabel": "renewing",
    "past evaluations": "renewing",
}


class _Steps(Mapping[str, Step]):
    def __getitem__(self, name: str) -> Step:
        steps: dict[str, Step] = import_module(f"{__name__}.{_MODULES[name]}").STEPS
        return steps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


STEPS = _Steps()
"""Name → step."""
