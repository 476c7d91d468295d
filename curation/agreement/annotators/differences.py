"""One annotator's grades against the others' on the same pairs.

What a grade is compared with never contains it: the reviewer's decision on the pair, or without one the
others' grades (their mean for a difference, their strict majority for right or wrong). A consensus that holds
the annotator's own grade would hide a bias, wholly so where two people judge a pair.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.labeling.judgments.events import EVENT
from curation.labeling.session.excerpts import LONGEST
from curation.statistics.arrays import Floats, Ints
from curation.store import Cursor
from curation.store.documents import LENGTH, VERSION

MINIMUM_GRADES = 30
"""Grades with something to compare with, below which nothing is said."""


class Differences(NamedTuple):
    """One annotator's grades against the others', in parallel, in the order in which they were given.

    Attributes
    ----------
    query: numbers, the same for the same query.
    at: when, UTC, datetime64[us]; NaT for what was imported without a time, which comes last.
    off: the grade less what it is compared with; NaN where there is nothing.
    right: 1 where it is the decided or the others' grade, 0 where not, -1 where there is none.
    seconds: on screen before the first answer; NaN where unknown.
    length: characters of the text that was shown; 0 where unknown.
    """

    annotator: str
    query: Ints
    at: NDArray[np.datetime64]
    off: Floats
    right: Ints
    seconds: Floats
    length: Ints


class Comparable(NamedTuple):
    """Everybody's grades, in parallel, each annotator's in the order in which they were given.

    `wanted`: those asked about; the others are there to be compared with. `decision`: the reviewer's, NaN
    where there is none or no grade; `decided`: whether there is one. The rest is as in `Differences`.
    """

    annotator: NDArray[np.object_]
    query: Ints
    pair: Ints
    grade: Ints
    at: NDArray[np.datetime64]
    seconds: Floats
    length: Ints
    decided: NDArray[np.bool_]
    decision: Floats
    wanted: NDArray[np.bool_]


def read_comparable(cursor: Cursor, round_id: str | None = None) -> Comparable:
    """Everybody's grades; of the round, if one is given, and all others of the same pairs."""
    rows = cursor.execute(_GIVEN, [LONGEST, round_id, round_id]).fetchnumpy()
    query, pair, grade, length = (
        np.asarray(rows[name]).astype(np.int64) for name in ("query", "pair", "grade", "length")
    )
    seconds, decision = (
        np.ma.filled(np.ma.asarray(rows[name], dtype=np.float64), np.nan) for name in ("seconds", "decision")
    )
    at = np.ma.filled(np.ma.asarray(rows["given_at"]), np.datetime64("NaT"))
    decided, wanted = (np.asarray(rows[name]).astype(bool) for name in ("decided", "wanted"))
    who = np.asarray(rows["annotator"], dtype=object)
    return Comparable(who, query, pair, grade, at, seconds, length, decided, decision, wanted)


def differences_of(given: Comparable, left_out: Collection[str] = ()) -> list[Differences]:
    """Everybody's wanted grades and those of the others who are not left out, by name."""
    off, right = _beside(given, ~np.isin(given.annotator, list(left_out)))
    columns = (given.query, given.at, off, right, given.seconds, given.length)
    return [
        Differences(str(name), *(column[(given.annotator == name) & given.wanted] for column in columns))
        for name in sorted(set(given.annotator[given.wanted]))
    ]


def _beside(given: Comparable, counted: NDArray[np.bool_]) -> tuple[Floats, Ints]:
    """Own less reference, and right or wrong."""
    pair, grade, decided, decision = given.pair, given.grade, given.decided, given.decision
    # `others[i, g]`: how many others gave grade g to the pair of row i.
    values, value = np.unique(grade, return_inverse=True)
    number = int(pair.max(initial=-1)) + 1
    tally = np.bincount((pair * len(values) + value)[counted], minlength=number * len(values))
    others = tally.reshape(number, len(values))[pair]
    others[np.arange(len(pair)), value] -= counted
    judgments = others.sum(axis=1)
    with np.errstate(invalid="ignore"):
        mean = np.where(judgments > 0, (others @ values) / np.maximum(judgments, 1), np.nan)
    off: Floats = grade.astype(np.float64) - np.where(decided, decision, mean)
    agreed = 2 * others.max(axis=1, initial=0) > judgments
    theirs = values[others.argmax(axis=1)] if len(values) else grade
    right = np.where(agreed, (theirs == grade).astype(np.int64), -1)
    as_decided = np.where(np.isnan(decision), -1, (decision == grade).astype(np.int64))
    return off, np.where(decided, as_decided, right)


# The first answer's time: a grade that is changed later takes a moment only.
_GIVEN = f"""
WITH times AS (
    SELECT presentation_id, arg_min(active_ms, revision) / 1000 AS seconds FROM judgment_events
    WHERE kind IN ('grade', 'cannot_tell') GROUP BY presentation_id)
SELECT j.annotator AS annotator, dense_rank() OVER (ORDER BY j.query_id) - 1 AS query,
       dense_rank() OVER (ORDER BY j.query_id, j.document_id) - 1 AS pair, j.grade AS grade,
       CASE WHEN e.time_known THEN j.submitted_at END AS given_at, t.seconds AS seconds,
       coalesce({LENGTH}, 0) AS length,
       a.revision IS NOT NULL AS decided, a.grade AS decision,
       ?::TEXT IS NULL OR j.round_id = ? AS wanted
FROM counted_judgments j {EVENT}
LEFT JOIN times t ON t.presentation_id = j.presentation_id
LEFT JOIN {VERSION}
LEFT JOIN counted_adjudications a ON a.query_id = j.query_id AND a.document_id = j.document_id
WHERE j.kind = 'grade' AND j.same_text
ORDER BY j.annotator, given_at, j.position, j.presentation_id
"""  # noqa: S608
