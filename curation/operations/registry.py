"""The registry of operations that commands and pages start, by name, with the data that each uses.

The module of an operation is imported on the first use of the operation, because some modules take seconds to
import.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from curation.core.operation import Operation

_ENTRIES = {
    "check file": ("operations.import_jobs", "sources queries judgments", ""),
    "import": ("operations.import_jobs", "", "sources queries judgments"),
    "sample": ("releases.sampling_operations", "sources", "queries"),
    "top up": ("releases.sampling_operations", "sources", "queries"),
    "tags": ("queries.operations", "sources", "queries vectors"),
    "pool": ("pooling.operations", "sources queries", "candidates vectors"),
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
        operations: dict[str, Operation] = import_module(f"curation.{_ENTRIES[name][0]}").OPERATIONS
        return operations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_ENTRIES)

    def __len__(self) -> int:
        return len(_ENTRIES)


OPERATIONS = _Operations()
"""The operations by name."""


def clash(name: str, other: str) -> bool:
    """Tell whether one of two operations changes data that the other reads or changes.

    Operations that clash may not run at the same time. Each operation stores its result in one transaction,
    so an operation cannot damage the project; but a pool that is built during an import of the corpus would
    have the former documents.
    """
    reads, changes = (set(names.split()) for names in _ENTRIES[name][1:])
    other_reads, other_changes = (set(names.split()) for names in _ENTRIES[other][1:])
    return name == other or bool(changes & (other_reads | other_changes) or other_changes & reads)
