"""The record of an export format, and the record of what its writer did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource


@dataclass(frozen=True)
class Written:
    """What a writer did.

    Attributes
    ----------
    configs: config → split → file, as `datasets.load_dataset` takes the folder.
    ids: how ids were changed.
    rows: file → rows, for formats whose rows are made from several grades.
    left_out: reason → number.
    loading: what the configs say besides, such as `csv_types`.
    """

    configs: Mapping[str, Mapping[str, str]]
    ids: Mapping[str, Any] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    loading: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ExportFormat:
    """An export format.

    Attributes
    ----------
    name: as `goldgrade export --format` names it.
    write: writes its files into a folder.
    note: what the help adds to the name in brackets.
    readers: what reads it, as people choose by.
    sealed_by_default: whether grades of sealed parts are written where no parts are named.
    never_sealed: whether grades of sealed parts can be named at all.
    takes_unjudged: whether it has a place for pairs without a grade.
    takes_negatives: whether each positive has hard negatives with it.
    reading: for formats with the weights of the traffic, what the README's script reads of its files: the
        columns query_id, doc_id, relevance and traffic_weight.
    """

    name: str
    write: Callable[[Path, ExportSource], Written]
    note: str = ""
    sealed_by_default: bool = True
    never_sealed: bool = False
    takes_unjudged: bool = False
    takes_negatives: bool = False
    readers: str = ""
    reading: str = ""

    @property
    def help(self) -> str:
        """The name, with its note."""
        return f"{self.name} ({self.note})" if self.note else self.name
