"""All operations that commands and pages start, by name, and which operations may not work at the same time.

The module of an operation is imported on the first use of the operation, because some modules take seconds to
import.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from curation.core.operation import Operation

_MODULES = {
    "check file": ("operations.import_jobs", "sources queries judgments", ""),
    "import": ("operations.import_jobs", "", "sources queries judgments"),
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
"""Name → (the module of the operation, the data that it reads, the data that it changes)."""


class _Operations(Mapping[str, Operation]):
    def __getitem__(self, name: str) -> Operation:
        operations: dict[str, Operation] = import_module(f"curation.{_MODULES[name][0]}").OPERATIONS
        return operations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


OPERATIONS = _Operations()
"""The operations by name."""


def clash(name: str, other: str) -> bool:
    """Tell whether one of two operations changes data that the other reads or changes.

    Operations that clash may not run at the same time. Each operation stores its result in one transaction,
    so an operation cannot damage the project; but a pool that is built during an import of the corpus would
    have the former documents.
    """
    (_, reads, changes), (_, other_reads, other_changes) = _MODULES[name], _MODULES[other]
    mine, others = set(changes.split()), set(other_changes.split())
    return name == other or bool(mine & {*other_reads.split(), *others} or others & set(reads.split()))
