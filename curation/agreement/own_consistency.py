"""An annotator's consistency as shown to that annotator, computed only from released answers.

The page never shows other annotators, blind duplicates, pilots, practice or control items.
"""

from __future__ import annotations

from datetime import datetime

from curation.agreement.intra_annotator import MINIMUM_REPEATS, Repeats, score_repeats
from curation.agreement.released_answers import RELEASED_ANSWERS, bind_release_parameters
from curation.core.statistics.estimate import Estimate
from curation.store import Store

_HAS_ITEMS = """
SELECT 1 FROM live_presentations p JOIN rounds r USING (round_id)
WHERE p.annotator = ? AND r.kind NOT IN ('pilot', 'practice') LIMIT 1
"""
_REPEAT_COUNTS = f"""{RELEASED_ANSWERS}
SELECT count(*), count(*) FILTER (second.grade = first.grade)
FROM released second JOIN released first ON first.presentation_id = second.duplicate_of
WHERE second.kind = 'grade' AND first.kind = 'grade'
GROUP BY second.query_id ORDER BY second.query_id
"""  # noqa: S608


def estimate_own_consistency(store: Store, annotator: str, now: datetime | None = None) -> Estimate | None:
    """Estimate how often an annotator gave the same grade again, from the blind duplicates among their
    released answers.

    Returns
    -------
    The share with its 95 % interval and the number of repeats with a grade on both showings; an estimate
    without a value with fewer than `MINIMUM_REPEATS` repeats; None if the annotator has no items.
    """
    with store.reading() as cursor:
        if not cursor.execute(_HAS_ITEMS, [annotator]).fetchall():
            return None
        rows = cursor.execute(_REPEAT_COUNTS, bind_release_parameters(annotator, now)).fetchall()
    graded_counts = [graded_count for graded_count, _ in rows]
    identical_counts = [identical_count for _, identical_count in rows]
    consistency = score_repeats(Repeats(annotator, len(rows), graded_counts, identical_counts, 0, None))
    if consistency.n < MINIMUM_REPEATS:
        return Estimate()
    return Estimate(consistency.identical, consistency.low, consistency.high, consistency.n)
