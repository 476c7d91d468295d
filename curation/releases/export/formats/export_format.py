"""The record by which an export format is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curation.releases.export.formats.files import Written
    from curation.releases.export.gold import Gold


@dataclass(frozen=True)
class ExportFormat:
    """An export format.

    Attributes
    ----------
    name: as `goldset export --format` names it.
    write: writes its files into a folder.
    note: what the help adds to the name in brackets.
    sealed_by_default: whether grades of sealed parts are written where no parts are named.
    never_sealed: whether grades of sealed parts can be named at all.
    takes_unjudged: whether it has a place for pairs without a grade.
    """

    name: str
    write: Callable[[Path, Gold], Written]
    note: str = ""
    sealed_by_default: bool = True
    never_sealed: bool = False
    takes_unjudged: bool = False

    @property
    def help(self) -> str:
        """The name, with its note."""
        return f"{self.name} ({self.note})" if self.note else self.name
