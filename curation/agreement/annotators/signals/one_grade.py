"""Signal `one grade`: one grade nearly all the time, where others on the same pairs give others."""

from __future__ import annotations

from curation.agreement.annotators.fast_answers import FEWEST_ANSWERS
from curation.agreement.annotators.favourite_grade import ONE_GRADE, FavouriteGrade
from curation.agreement.annotators.signals.signal import Evidence, Look, Signal, single
from curation.text import amount, percent


def look(person: Evidence) -> Look | str:
    """An exact test: whose grade is whose does not matter; see `FavouriteGrade.p`.

    Who follows the others' grades is only more careful than they are, where nearly all pairs have one grade.
    """
    one = person.favourite
    if not isinstance(one, FavouriteGrade):
        return one or "no grades were read"
    return single(
        "one grade",
        1.0 if person.agreement is not None and person.agreement.follows else one.p,
        f"Look at these together: {person.annotator} gave grade {one.grade} to {one.times:,} of "
        f"{amount(one.pairs, 'pair')}; on these others gave it {one.others_times:,} times of "
        f"{one.others_grades:,}. "
        f"{_runs(one)}A part of the guide that was read differently can do that, too.",
        one._asdict(),
    )


def _runs(one: FavouriteGrade) -> str:
    """Grades without a time are in no run."""
    if not one.longest_run:
        return ""
    return f"The longest run of one grade is {one.longest_run:,}, among the others {one.others_run:,}. "


ONE_GRADE_THROUGHOUT = Signal(
    "one grade",
    f"one grade on at least {percent(ONE_GRADE)} of at least {FEWEST_ANSWERS} pairs that others graded, "
    "too, more often than theirs explain",
    look,
)
