"""Search for a field's column among a file's columns, by the column's usual names.

Names are compared without case and punctuation. A required field may be inside an object, such as `question`
in an object `inputs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from curation.ingest.readers.fields import FileField


def find_column(field: FileField, columns: Sequence[str], inside: str = "") -> str | None:
    """Return the column for a field: the first column with one of the field's usual names, ignoring case and
    punctuation.

    A required field may be inside an object, such as `question` in `inputs`, if only one object has the
    field.

    Parameters
    ----------
    inside: path of the object with the leading field (`find_object`). All other fields are searched
    for in this object first, and then in the enclosing objects.
    """
    outside_column = _find_in_object(field.usual_names, columns, "", bool(inside))
    inside_column, path = None, inside
    while path and inside_column is None:
        inside_column = _find_in_object(field.usual_names, columns, path, path != inside)
        path = path.rpartition(".")[0]
    nested = _find_by_last_part(field.usual_names, columns) if field.required_noun or field.leads else None
    if not field.required_noun:
        return inside_column or outside_column or nested
    if field.usual_names[0] in columns:
        return field.usual_names[0]
    if f"{inside}.".startswith("_source."):
        return inside_column or outside_column or nested
    return outside_column or nested or inside_column


def find_object(
    fields: Sequence[FileField], columns: Sequence[str], chosen: Mapping[str, str | None] = {}
) -> str:
    """Return the path of the object in each record that has the first field; '' if the record itself has this
    field.

    Elasticsearch and OpenSearch write a record as the object `_source`, next to the engine's fields such as
    `_id`.

    Parameters
    ----------
    chosen: column that a person chose for each field; '' for no column.
    """
    leading = next((field for field in fields if field.leads), None)
    leading = leading or next((field for field in fields if field.required_noun), None)
    if leading is None:
        return ""
    column = chosen.get(leading.name)
    if column is None:
        column = _find_in_object(leading.usual_names, columns, "_source", False) or find_column(
            leading, columns
        )
        column = column or _find_in_object(leading.usual_names, columns, "fields", False)
        if column in leading.usual_names:
            return ""
    return (column or "").rpartition(".")[0]


def _find_in_object(usual: Iterable[str], columns: Sequence[str], path: str, encloses: bool) -> str | None:
    """Return the column that has a usual name in the object at a path.

    encloses: whether the object encloses the leading object. In an enclosing object, names that begin with
    "_" belong to the search engine, and match only exactly.
    """
    before = f"{path}." if path else ""
    by_name = {column[len(before) :]: column for column in columns if column.startswith(before)}
    exact = next((name for name in usual if name in by_name), None)
    name = exact or match_column(usual, [name for name in by_name if not (encloses and name.startswith("_"))])
    return None if name is None else by_name[name]


def match_column(names: Iterable[str], columns: Sequence[str]) -> str | None:
    """Return the column for the first of these names that any column has, ignoring case and punctuation."""
    by_name = {_normalise_name(name): name for name in reversed(columns)}
    return next((by_name[_normalise_name(name)] for name in names if _normalise_name(name) in by_name), None)


def _find_by_last_part(usual: Iterable[str], columns: Sequence[str]) -> str | None:
    """Return the column whose path ends with a usual name; None if two columns do."""
    last_parts = [(_normalise_name(column.rpartition(".")[2]), column) for column in columns if "." in column]
    for name in map(_normalise_name, usual):
        if matching := [column for last_name, column in last_parts if last_name == name]:
            return matching[0] if len(matching) == 1 else None
    return None


def _normalise_name(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
