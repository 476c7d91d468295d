"""Maps that command-line options contain: from fields to columns, from a file's grades to the guide's, and
from names to annotators.

A map of grades or annotators is written as `100=3,10=2,x=cannot-tell`. A part of a map with a comma is quoted
as in CSV: `"good, with ads=2",bad=0`.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from curation.core.errors import refuse_problems
from curation.ingest.readers.fields import FileField
from curation.ingest.readers.values import parse_whole_number

CANNOT_TELL = ("cannot tell", "cannot_tell", "cannot-tell")
UNGRADED = -1
"""Value in a map of grades for a cell without a grade; no labeling guide has this value as a grade."""
_GRADE_WORDS: Mapping[str, int | None] = dict.fromkeys(CANNOT_TELL) | dict.fromkeys(
    ("no grade", "no_grade", "no-grade"), UNGRADED
)


def parse_column_map(pairs: Iterable[str], fields: Sequence[FileField]) -> dict[str, Any]:
    """Return the column, or a tuple of columns, of each field, from pairs such as `field=column`.

    Raises
    ------
    InputError: a field is not one of `fields`, two columns are given for a field that takes one column, or a
    pair has no `=`.
    """
    field_of, columns, problems = {field.name: field for field in fields}, dict[str, Any](), []
    for name, equals, column in (pair.partition("=") for pair in pairs):
        key = name.strip().replace("-", "_")
        if not equals:
            problems.append(f"--map {name}: expected FIELD=COLUMN, such as {fields[0].name}={name}")
        elif key not in field_of:
            problems.append(f"--map {name}={column}: no field {name!r}; expected {', '.join(field_of)}")
        elif field_of[key].several:
            columns[key] = (*columns.get(key, ()), column)
        elif columns.setdefault(key, column) != column:
            problems.append(f"--map {key} names {columns[key]!r} and {column!r}; expected one column")
    refuse_problems(problems)
    return columns


def parse_grade_map(text: str) -> dict[str, int | None]:
    """Parse a map from a file's grades to the guide's grades: `100=3,10=2,x=cannot-tell,y=no-grade`.

    Raises
    ------
    InputError: a part has a different form, or a grade is mapped twice.
    """
    grade_map: dict[str, int | None] = {}
    problems = []
    for pair, left, right in _split_pairs(text):
        if not left or not (right in _GRADE_WORDS or right.isdecimal()):
            problems.append(
                f"--grade-map: found {pair!r}; expected FILE_GRADE=GUIDE_GRADE, =cannot-tell or =no-grade"
            )
        elif normalise_grade(left) in grade_map:
            problems.append(f"--grade-map: {left!r} is mapped twice")
        else:
            grade_map[normalise_grade(left)] = _GRADE_WORDS[right] if right in _GRADE_WORDS else int(right)
    refuse_problems(
        problems,
        way_out="For example: --grade-map 100=3,10=2,1=1,0=0. Put an entry that contains a comma in quotes: "
        """--grade-map '"good, with ads=2",bad=0'.""",
    )
    return grade_map


def format_grade(grade: int | None) -> str:
    """Return a grade in the form used in the option that maps grades."""
    return "no-grade" if grade == UNGRADED else "cannot-tell" if grade is None else str(grade)


def parse_annotator_map(text: str) -> dict[str, str]:
    """Parse a map from names in a file to annotators: `ann lee=Ann Lee`.

    Raises
    ------
    InputError: a part has a different form, or a name is mapped twice.
    """
    annotator_map: dict[str, str] = {}
    problems = []
    for pair, left, right in _split_pairs(text):
        if not left or not right:
            problems.append(f"--annotator-map: found {pair!r}; expected NAME_IN_FILE=ANNOTATOR")
        elif annotator_map.setdefault(left, right) != right:
            problems.append(f"--annotator-map: {left!r} is mapped twice")
    refuse_problems(problems, way_out="For example: --annotator-map 'ann lee=Ann Lee'")
    return annotator_map


def parse_annotator_columns(text: str) -> dict[str, str]:
    """Parse the option with columns of grades and their annotators: `a,b=ada` maps a to a, b to ada."""
    pairs = (part.strip().partition("=") for part in _split_parts(text) if part.strip())
    return {column.strip(): name.strip() or column.strip() for column, _, name in pairs}


def format_map(pairs: Mapping[str, str]) -> str:
    """Return a map as the value of a command-line option, quoted for a shell."""
    csv_text = io.StringIO()
    csv.writer(csv_text, lineterminator="").writerow(f"{left}={right}" for left, right in pairs.items())
    return shlex.quote(csv_text.getvalue())


def normalise_grade(text: str) -> str:
    """Return a written grade in a normal form, so that 100, 100.0 and 100.000 are the same."""
    text = text.strip().casefold()
    whole = parse_whole_number(text)
    if whole is not None:
        return str(whole)
    try:
        return str(float(text))
    except ValueError:
        return text


def _split_pairs(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each part of a map, as the texts left and right of its last equals sign."""
    for part in map(str.strip, _split_parts(text)):
        left, _, right = part.rpartition("=")
        yield part, left.strip(), right.strip()


def _split_parts(text: str) -> list[str]:
    return next(csv.reader([text], skipinitialspace=True), [])
