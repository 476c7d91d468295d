"""Every step that a command and a page start: its record, by name.

A step's module is imported when the step is asked for: what its work needs takes seconds to import.
"""

from __future__ import annotations

from importlib import import_module

from curation.step import Step

_MODULES = {
    "sample": "sampling",
    "top up": "sampling",
    "tags": "sampling",
    "pool": "pooling",
    "coverage": "measuring",
}
NAMES = tuple(_MODULES)
"""The names of all steps."""


def step_of(name: str) -> Step:
    """The record of a step."""
    steps: dict[str, Step] = import_module(f"curation.steps.{_MODULES[name]}").STEPS
    return steps[name]
