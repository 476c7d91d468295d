"""Every step that a command and a page start: its record, by name.

A step's module is imported when the step is asked for: what its work needs takes seconds to import.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

from curation.step import Step


class _Listed(NamedTuple):
    """The module that has a step, and what the step reads and changes, in words divided by spaces."""

    module: str
    reads: str = ""
    changes: str = ""


_MODULES = {
    "check file": _Listed("importing", "sources queries judgments"),
    "import": _Listed("importing", "", "sources queries judgments"),
    "sample": _Listed("sampling", "sources", "queries"),
    "top up": _Listed("sampling", "sources", "queries"),
    "tags": _Listed("sampling", "sources", "queries vectors"),
    "pool": _Listed("pooling", "sources queries", "candidates vectors"),
    "coverage": _Listed("measuring", "sources queries", "map vectors"),
    "split preview": _Listed("splitting", "sources queries judgments", "vectors"),
    "split": _Listed("splitting", "sources queries judgments", "parts vectors"),
    "freeze": _Listed("freezing", "sources queries judgments candidates parts", "releases"),
    "export": _Listed("freezing", "releases"),
    "evaluate": _Listed("evaluating", "releases", "evaluations"),
    "plan re-labeling": _Listed("renewing", "sources queries judgments candidates", "plan"),
    "relabel": _Listed("renewing", "sources queries plan", "candidates vectors"),
    "past evaluations": _Listed("renewing", "releases judgments"),
    "backup": _Listed("backing_up"),
}


class _Steps(Mapping[str, Step]):
    def __getitem__(self, name: str) -> Step:
        steps: dict[str, Step] = import_module(f"{__name__}.{_MODULES[name].module}").STEPS
        return steps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


STEPS = _Steps()
"""Name → step."""


def clash(one: str, other: str) -> bool:
    """Whether two steps may not work at the same time: one changes what the other reads or changes.

    Each stores its result in one transaction, so neither can damage the project. But a pool that is built
    while the corpus is imported would be one of the former corpus.
    """
    (_, reads, changes), (_, other_reads, other_changes) = (_MODULES[name] for name in (one, other))
    mine, others = set(changes.split()), set(other_changes.split())
    return one == other or bool(mine & {*other_reads.split(), *others} or others & set(reads.split()))
