"""Annotator names in a file of judgments that resemble another name in the project or in the file.

Judgments under a misspelled name would count as the judgments of a further person, so such names are refused.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from curation.core.characters import describe_lookalike, find_lookalikes
from curation.core.errors import refuse_problems
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.option_maps import format_map
from curation.ingest.readers.fields import JudgmentFields
from curation.people.accounts import read_names_in_use
from curation.store import Store

_OTHER_NAME = "Give a different person a clearly different name."


def refuse_alike_names(store: Store, judgments: Sequence[ImportedJudgment], fields: JudgmentFields) -> None:
    """Reject new annotator names that resemble another name in the project or the file.

    Names from `fields.annotator_map` are not checked.

    Raises
    ------
    InputError: names look alike; the error lists all such names.
    """
    with store.reading() as cursor:
        person_of = read_names_in_use(cursor)
    first_lines = {judgment.annotator: judgment.line for judgment in reversed(judgments)}
    known_names = {name for name, person in person_of.items() if name == person}
    problems: list[str] = []
    person_by_name: dict[str, str] = {}
    new_names = first_lines.keys() - known_names - {*fields.annotator_map.values()}
    for name in sorted(new_names, key=lambda name: (first_lines[name], name)):
        similar_name = name if name in person_of else find_lookalikes([name], person_of).get(name)
        if similar_name is None:
            person_of[name] = name
        else:
            person_by_name[name] = person_of[similar_name]
            problem = _describe_alike(name, similar_name, person_of[similar_name], first_lines)
            problems.append(f"line {first_lines[name]}: {problem}")
    refuse_problems(problems, way_out=_build_way_out(person_by_name, fields))


def _describe_alike(name: str, known_spelling: str, person: str, first_lines: Mapping[str, int]) -> str:
    if name == known_spelling:
        return f"the annotator {name!r} has the e-mail address of {person!r}"
    if person != known_spelling:
        known_name = f"{known_spelling!r}, the address of {person!r},"
    else:
        line = f" on line {first_lines[known_spelling]}" if known_spelling in first_lines else ""
        known_name = f"{known_spelling!r}{line}"
    return f"the annotator {name!r} differs from {known_name} by {describe_lookalike(name, known_spelling)}"


def _build_way_out(person_by_name: Mapping[str, str], fields: JudgmentFields) -> str:
    if fields.annotator_name is not None:
        return "".join(
            f"If both names are the same person, add --annotator {shlex.quote(person)}. {_OTHER_NAME}"
            for person in person_by_name.values()
        )
    own_names = format_map({name: name for name in person_by_name})
    return (
        f"If both names are the same person, add --annotator-map {format_map(person_by_name)}. "
        f"If the names are two people, add --annotator-map {own_names}."
    )
