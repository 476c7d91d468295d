"""One annotator's grades beside the others' on the same pairs.

What a grade is compared with never contains it: the reviewer's decision on the pair, or without one the
others' grades (their mean for a difference, their strict majority for right or wrong). A consensus that holds
the annotator's own grade would hide a bias, wholly so where two people judge a pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.labeling.judgments.events import EVENT
from curation.labeling.session.excerpts import LONGEST
from curation.statistics.intervals import Floats
from curation.store import Cursor
from curation.store.documents import LENGTH, VERSION

Ints = NDArray[np.int64]

MINIMUM_GRADES = 30
"""Grades with something to compare with, below which nothing is said."""


class Differences(NamedTuple):
    """One annotator's grades beside the others', in parallel, in the order in which they were given.

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


def read_differences(cursor: Cursor, round_id: str | None = None) -> list[Differences]:
    """Everybody's grades (of the round, if one is given) beside all others' on the same pairs, by name."""
    rows = cursor.execute(_GIVEN, [LONGEST, round_id, round_id]).fetchnumpy()
    pair, grade = (np.asarray(rows[name]).astype(np.int64) for name in ("pair", "grade"))
    decided = np.asarray(rows["decided"]).astype(bool)
    decision = np.ma.filled(np.ma.asarray(rows["decision"], dtype=np.float64), np.nan)
    off, right = _beside(pair, grade, decided, decision)
    seconds = np.ma.filled(np.ma.asarray(rows["seconds"], dtype=np.float64), np.nan)
    at = np.ma.filled(np.ma.asarray(rows["given_at"]), np.datetime64("NaT"))
    columns = [np.asarray(rows["query"]).astype(np.int64), at, off, right, seconds]
    columns.append(np.asarray(rows["length"]).astype(np.int64))
    who, wanted = np.asarray(rows["annotator"], dtype=object), np.asarray(rows["wanted"]).astype(bool)
    return [
        Differences(str(name), *(column[(who == name) & wanted] for column in columns))
        for name in sorted(set(who[wanted]))
    ]


def _beside(pair: Ints, grade: Ints, decided: NDArray[np.bool_], decision: Floats) -> tuple[Floats, Ints]:
    """Own less reference, and right or wrong."""
    # `others[i, g]`: how many others gave grade g to the pair of row i.
    values, value = np.unique(grade, return_inverse=True)
    number = int(pair.max(initial=-1)) + 1
    tally = np.bincount(pair * len(values) + value, minlength=number * len(values))
    others = tally.reshape(number, len(values))[pair]
    others[np.arange(len(pair)), value] -= 1
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
LEFT JOIN current_adjudications a ON a.query_id = j.query_id AND a.document_id = j.document_id
WHERE j.kind = 'grade'
ORDER BY j.annotator, given_at, j.position, j.presentation_id
"""  # noqa: S608
