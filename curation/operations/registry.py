"""Every operation that a command and a page start, by name.

The module of an operation is imported when the operation is asked for: what its work needs takes seconds to
import.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from curation.core.operation import Operation

_MODULES = {
    "check file": ("operations.import_file", "sources queries judgments", ""),
    "import": ("operations.import_file", "", "sources queries judgments"),
    "sample": ("releases.sampling_operations", "sources", "queries"),
    "top up": ("releases.sampling_operations", "sources", "queries"),
    "tags": ("queries.operations", "sources", "queries vectors"),
    "pool": ("pooling.pool", "sources queries", "candidates vectors"),
    "coverage": ("queries.operations", "sources queries", "map vectors"),
    "split preview": ("splits.operations", "sources queries judgments", "vectors"),
    "split": ("splits.operations", "sources queries judgments", "parts vectors"),
    "freeze": ("releases.operations", "sources queries judgments candidates parts", "releases"),
    "export": ("releases.operations", "releases", ""),
    "evaluate": ("evaluation.evaluate", "releases", "evaluations"),
    "plan re-labeling": ("relabeling.open_quarter", "sources queries judgments candidates", "plan"),
    "relabel": ("relabeling.open_quarter", "sources queries plan", "candidates vectors"),
    "backup": ("operations.backup_schedule", "", ""),
}
"""Name → (the module that has it, what it reads, what it changes)."""


class _Operations(Mapping[str, Operation]):
    def __getitem__(self, name: str) -> Operation:
        operations: dict[str, Operation] = import_module(f"curation.{_MODULES[name][0]}").OPERATIONS
        return operations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


OPERATIONS = _Operations()
"""Name → operation."""


def clash(name: str, other: str) -> bool:
    """Whether two operations may not work at the same time: one changes what the other reads or changes.

    Each stores its result in one transaction, so neither can damage the project. But a pool that is built
    while the corpus is imported would be one of the former corpus.
    """
    (_, reads, changes), (_, other_reads, other_changes) = _MODULES[name], _MODULES[other]
    mine, others = set(changes.split()), set(other_changes.split())
    return name == other or bool(mine & {*other_reads.split(), *others} or others & set(reads.split()))
