"""The record that defines an export format, and the result of the format's write function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource


@dataclass(frozen=True)
class Written:
    """The result of writing a release in an export format.

    Attributes
    ----------
    configs: config → split → file, by which `datasets.load_dataset` takes the folder.
    ids: changes of ids.
    rows: file → number of rows, for formats that make a row from several grades.
    left_out: reason → number.
    loading: further fields of the configs, such as `describe_csv_types`.
    """

    configs: Mapping[str, Mapping[str, str]]
    ids: Mapping[str, Any] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    loading: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ExportFormat:
    """An export format, with the function that writes a release in this format.

    Attributes
    ----------
    name: the name in `goldgrade export --format`.
    write: the function that writes the files into a folder.
    note: a remark that the help shows in brackets after the name.
    readers: the tools that read the format, by which people choose.
    sealed_by_default: whether grades of sealed parts are written where no parts are named.
    never_sealed: whether the format refuses sealed parts that are named.
    takes_unjudged: whether the format has a place for pairs without a grade.
    takes_negatives: whether each positive has hard negatives with it.
    reading: for formats with the weights of the traffic, the lines of the README's script that read the
        columns query_id, doc_id, relevance and traffic_weight from the files.
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
        """Return the format's name with its note, for the help text."""
        return f"{self.name} ({self.note})" if self.note else self.name
