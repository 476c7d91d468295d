"""The registry of the operations that commands and pages start, with the data that each operation uses.

The module of an operation is imported on the first use of the operation, because some modules take seconds to
import.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

from curation.core.operation import Operation


class _Entry(NamedTuple):
    """The module of an operation, the data that the operation reads, and the data that it changes."""

    module: str
    reads: str
    changes: str

    @property
    def used_data(self) -> set[str]:
        return {*self.reads.split(), *self.changes.split()}


_ENTRIES = {
    "check file": _Entry("operations.import_jobs", "sources queries judgments", ""),
    "import": _Entry("operations.import_jobs", "", "sources queries judgments"),
    "sample": _Entry("releases.sampling_operations", "sources", "queries"),
    "top up": _Entry("releases.sampling_operations", "sources", "queries"),
    "tags": _Entry("queries.operations", "sources", "queries vectors"),
    "write questions": _Entry("queries.operations", "sources", "queries candidates"),
    "pool": _Entry("pooling.operations", "sources queries", "candidates vectors"),
    "coverage": _Entry("queries.operations", "sources queries", "map vectors"),
    "start": _Entry("operations.start", "sources", "queries candidates"),
    "split preview": _Entry("splits.operations", "sources queries judgments", "vectors"),
    "split": _Entry("splits.operations", "sources queries judgments", "parts vectors"),
    "freeze": _Entry("releases.operations", "sources queries judgments candidates parts", "releases"),
    "export": _Entry("releases.operations", "releases", ""),
    "evaluate": _Entry("evaluation.evaluate", "releases", "evaluations"),
    "plan re-labeling": _Entry("relabeling.operations", "sources queries judgments candidates", "plan"),
    "relabel": _Entry("relabeling.operations", "sources queries plan", "candidates vectors"),
    "ask judge": _Entry("evaluation.llm_judges.ask_judge", "sources queries candidates releases", "judges"),
    "backup": _Entry("operations.backup_schedule", "", ""),
}


class _Operations(Mapping[str, Operation]):
    def __getitem__(self, name: str) -> Operation:
        operations: dict[str, Operation] = import_module(f"curation.{_ENTRIES[name].module}").OPERATIONS
        return operations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_ENTRIES)

    def __len__(self) -> int:
        return len(_ENTRIES)


OPERATIONS = _Operations()
"""The operations by name."""


def has_clash(name: str, other: str) -> bool:
    """Return whether one of two operations changes data that the other reads or changes.

    Operations that clash may not run at the same time. Each operation stores its result in one transaction,
    so an operation cannot damage the project; but a pool that is built during an import of the corpus would
    have the former documents.
    """
    entry, other_entry = _ENTRIES[name], _ENTRIES[other]
    changes_other = not other_entry.used_data.isdisjoint(entry.changes.split())
    is_changed = not entry.used_data.isdisjoint(other_entry.changes.split())
    return name == other or changes_other or is_changed
