"""Early warnings: the signals of an open round, while there is still time to talk about them.

They are the same signals, tests and error control as in feedback, but all looks at the round's people are
taken together, since one person reads them together. So in at most `FALSE_ROUNDS` of the rounds in which
nothing is the matter is anything raised at all. That holds for one look, and for answers that do not depend
on each other; looking again after every answer raises it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.agreement.annotators.agreement_with_others import agreement_with_others, reference_of
from curation.agreement.annotators.change_points import ChangePoint, change_points
from curation.agreement.annotators.fast_answers import AnswerTimes, fast_answers, read_times
from curation.agreement.annotators.favourite_grade import RoundGrades, favourite_grades, read_given
from curation.agreement.annotators.intra_annotator import Showings, read_showings
from curation.agreement.annotators.signal import FALSE_ROUNDS, Evidence, Raised, raise_findings
from curation.agreement.annotators.signals import DURING_ROUND
from curation.agreement.between.grades import Grades, read_grades
from curation.labeling.rounds.rounds import find_round
from curation.store import Store

FEWEST_REPEATS = 20
"""Blind duplicates judged twice, below which a round says nothing about a fall."""


def early_warnings(store: Store, round_name: str) -> Raised:
    """Look at everybody in a round.

    Raises
    ------
    NotFoundError: there is no round of that name.
    """
    with store.reading() as cursor:
        round_id = find_round(cursor, round_name).round_id
        people = [name for (name,) in cursor.execute(_PEOPLE, [round_id]).fetchall()]
        times, given = read_times(cursor, round_id), read_given(cursor, round_id)
        repeats = {row.annotator: row for row in read_showings(cursor, round_id)}
        grades = read_grades(cursor, round_id)
    return look_at_round(people, times, given, repeats, grades)


def look_at_round(
    people: Sequence[str],
    times: AnswerTimes,
    given: RoundGrades,
    repeats: Mapping[str, Showings],
    grades: Grades | None = None,
) -> Raised:
    """Look at everybody by every signal of a round; `grades` are those given, by pair and query."""
    left_out = reference_of(grades).left_out if grades is not None else {}
    agreement = agreement_with_others(grades, left_out) if grades is not None else {}
    fast, favourite = fast_answers(people, times, left_out), favourite_grades(people, given, left_out)
    evidence = [
        Evidence(
            name,
            repeats_number=len(repeats[name].again) if name in repeats else 0,
            changes=falls(repeats[name]) if name in repeats else None,
            fewest_repeats=FEWEST_REPEATS,
            agreement=agreement.get(name),
            fast=fast[name],
            favourite=favourite[name],
        )
        for name in people
    ]
    return raise_findings(evidence, DURING_ROUND, FALSE_ROUNDS)


def falls(repeats: Showings) -> tuple[ChangePoint, ...]:
    """Change points after which fewer repeats are graded alike; to get better is no warning."""
    return change_points(repeats.first == repeats.again, repeats.at, falls_only=True)


_PEOPLE = "SELECT DISTINCT annotator FROM live_presentations WHERE round_id = ? ORDER BY annotator"
