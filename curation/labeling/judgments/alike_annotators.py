"""New annotators of a file whose names people read as known ones: somebody says whether they are one person.

One person under two names would judge pairs twice, and agree with herself.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from curation.core.errors import refuse_problems
from curation.core.text import alike, difference_of_form
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.value_maps import map_to_write
from curation.ingest.readers.fields import JudgmentFields
from curation.people.annotators import names_in_use
from curation.store import Store

_OTHER_NAME = "Another person needs a name that people can tell apart."


def refuse_alike_annotators(
    store: Store, judgments: Sequence[ImportedJudgment], fields: JudgmentFields
) -> None:
    """Refuse new names that may be those of people whom the project, or the file, knows by another one.

    What `fields.annotator_map` gives is taken as it is.

    Raises
    ------
    InputError: there are such names; all of them.
    """
    with store.reading() as cursor:
        person_of = names_in_use(cursor)
    first = {judgment.annotator: judgment.line for judgment in reversed(judgments)}
    known = {name for name, person in person_of.items() if name == person}
    problems: list[str] = []
    one_person: dict[str, str] = {}
    new = first.keys() - known - {*fields.annotator_map.values()}
    for name in sorted(new, key=lambda name: (first[name], name)):
        other = name if name in person_of else alike([name], person_of).get(name)
        if other is None:
            person_of[name] = name
        else:
            one_person[name] = person_of[other]
            problems.append(f"line {first[name]}: {_question(name, other, person_of[other], first)}")
    refuse_problems(problems, way_out=_way_out(one_person, fields))


def _question(name: str, other: str, person: str, first: Mapping[str, int]) -> str:
    if name == other:
        return f"the annotator {name!r} has the address of {person!r} for a name"
    if person != other:
        known = f"{other!r}, the address of {person!r},"
    else:
        known = f"{other!r} on line {first[other]}" if other in first else f"{other!r}"
    return f"the annotator {name!r} differs from {known} by {difference_of_form(name, other)}"


def _way_out(one_person: Mapping[str, str], fields: JudgmentFields) -> str:
    if fields.annotator_name is not None:
        return "".join(
            f"If they are one person, say --annotator {shlex.quote(person)}. {_OTHER_NAME}"
            for person in one_person.values()
        )
    two_people = map_to_write({name: name for name in one_person})
    return (
        f"If they are one person, say so: --annotator-map {map_to_write(one_person)}. "
        f"If they are two people: --annotator-map {two_people}."
    )
