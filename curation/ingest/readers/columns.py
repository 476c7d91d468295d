"""Which column of a file holds a field: by its usual names, as it is or but for case and signs.

What a file cannot be read without may be in an object, such as `question` in an object `inputs`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple


class FileField(NamedTuple):
    """A field of a kind of file.

    Attributes
    ----------
    label: what a page calls it; `about` is what the help of its option says that the column holds.
    usual: columns by which an import finds it, the first that a file has; `seen` are others that files have.
    needed: what the file cannot be read without, as "the documents' ids"; '' where it can.
    lacking: what to do with a file that has no such column.
    rare: few files have it. objects: its cells may be objects. ids: its cells are ids (`values.id_text`).
    leads: the object that has it has the other fields, too. Where none does, the first needed one leads.
    name: the attribute of the record.
    """

    label: str
    about: str
    usual: tuple[str, ...] = ()
    needed: str = ""
    several: bool = False
    seen: tuple[str, ...] = ()
    rare: bool = False
    name: str = ""
    lacking: str = ""
    objects: bool = False
    ids: bool = False
    leads: bool = False

    @property
    def option(self) -> str:
        """What the command line calls it."""
        return f"--{self.name.replace('_', '-')}-field"


def column(*about: Any, **more: Any) -> Any:
    """An attribute of a record that is a column, None where there is none; takes what `FileField` does."""
    file_field = FileField(*about, **more)
    return field(default=() if file_field.several else None, metadata={"column": file_field})


def file_fields(record: Any) -> tuple[FileField, ...]:
    """The fields of a kind of file, in order; attributes that are no columns are left out."""
    parts = [part for part in fields(record) if "column" in part.metadata]
    return tuple(part.metadata["column"]._replace(name=part.name) for part in parts)


def column_for(field: FileField, columns: Sequence[str], inside: str = "") -> str | None:
    """The column that holds a field: the first usual name that one has, as it is, or but for case and signs.

    What a file needs may be in an object, such as `question` in `inputs`, if only one object has it.

    Parameters
    ----------
    inside: the path of the object that has what leads, as `leading_object` finds it. Other fields are looked
        for in it first, and then in the objects around it.
    """
    outside = _column_in(field.usual, columns, "", bool(inside))
    within, place = None, inside
    while place and within is None:
        within = _column_in(field.usual, columns, place, place != inside)
        place = place.rpartition(".")[0]
    inner = _inner(field.usual, columns) if field.needed or field.leads else None
    if not field.needed:
        return within or outside or inner
    if field.usual[0] in columns:
        return field.usual[0]
    return within or outside or inner if f"{inside}.".startswith("_source.") else outside or inner or within


def leading_object(
    fields: Sequence[FileField], columns: Sequence[str], asked: Mapping[str, str | None] = {}
) -> str:
    """The path of the object that has the queries, or the texts of a corpus; '' where none is around them.

    Elasticsearch and OpenSearch write records as `_source`, next to names of their own such as `_id`.

    Parameters
    ----------
    asked: name of a field → the column that somebody gives for it, or '' for none.
    """
    leading = next((field for field in fields if field.leads), None)
    leading = leading or next((field for field in fields if field.needed), None)
    if leading is None:
        return ""
    found = asked.get(leading.name)
    if found is None:
        found = _column_in(leading.usual, columns, "_source", False) or column_for(leading, columns)
        found = found or _column_in(leading.usual, columns, "fields", False)
        if found in leading.usual:
            return ""
    return (found or "").rpartition(".")[0]


def _column_in(usual: Iterable[str], columns: Sequence[str], place: str, is_around: bool) -> str | None:
    """The column with a usual name in the object at a path, which may be around the one that leads.

    There, names that begin with "_" are the engine's own, as `_score`, and only taken as they are.
    """
    before = f"{place}." if place else ""
    here = {column[len(before) :]: column for column in columns if column.startswith(before)}
    exact = next((name for name in usual if name in here), None)
    found = exact or like(usual, [name for name in here if not (is_around and name.startswith("_"))])
    return None if found is None else here[found]


def like(names: Iterable[str], columns: Sequence[str]) -> str | None:
    """The column that has the first of the names that one has but for case and signs."""
    bare = {_bare(name): name for name in reversed(columns)}
    return next((bare[_bare(name)] for name in names if _bare(name) in bare), None)


def _inner(usual: Iterable[str], columns: Sequence[str]) -> str | None:
    """The one column whose last part is a usual name; None where two have the first that there is."""
    parts = [(_bare(column.rpartition(".")[2]), column) for column in columns if "." in column]
    for name in map(_bare, usual):
        if found := [column for part, column in parts if part == name]:
            return found[0] if len(found) == 1 else None
    return None


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


@dataclass(frozen=True)
class FileColumns:
    """What all kinds share; `columns` are those of the file that was read."""

    columns: tuple[str, ...] = field(default=(), kw_only=True, compare=False)
    reads_nothing_else: ClassVar[bool] = False
    """Whether a file's other columns are neither kept nor looked at."""

    @property
    def used(self) -> dict[str, str]:
        """Field → the column that was read for it, or several with commas."""
        given = {field.name: getattr(self, field.name) for field in file_fields(type(self))}
        texts = {
            name: ", ".join(found) if isinstance(found, tuple) else found for name, found in given.items()
        }
        return {name: text for name, text in texts.items() if text}

    def named(self, but: Collection[str]) -> dict[str, str | None]:
        """Field → the column that somebody names for it, the first of several; '' for the fields of `but`."""
        found: dict[str, str | None] = {}
        for name in (file_field.name for file_field in file_fields(type(self))):
            given = getattr(self, name)
            column = next(iter(given), None) if isinstance(given, tuple | list) else given
            found[name] = "" if name in but else column
        return found

    @property
    def unused(self) -> list[str]:
        """The columns that were not read."""
        return [column for column in self.columns if column not in self._read]

    @property
    def _read(self) -> set[str]:
        given = (getattr(self, field.name) for field in file_fields(type(self)))
        return {column for found in given for column in (found if isinstance(found, tuple) else [found])}
