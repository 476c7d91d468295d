"""The history: an annotator's own last answers, to look at and to change. A change is one more event.

Of a pair only the newest showing is listed. The first showing of the item on screen is never listed, because
that would give a blind duplicate away.
"""

from __future__ import annotations

from curation.labeling.session.documents.drawing import NOBODY
from curation.labeling.session.showings import Answered, next_showings, read_answered
from curation.store import Store
from curation.store.documents import VERSION

SHOWN = 20


def recent_answers(
    store: Store, annotator: str, limit: int = SHOWN, image_hosts: frozenset[str] = NOBODY
) -> list[Answered]:
    """The annotator's last answers, newest first, with the revision that a change needs.

    Answers are in the order in which each was first written. Practice answers are not listed, because they
    cannot be changed. Those of a closed round are, and a change there is marked late.
    """
    on_screen = [one.presentation_id for one in next_showings(store, annotator, 1).showings]
    with store.reading() as cursor:
        parameters = {"who": annotator, "next": on_screen, "limit": min(limit, SHOWN)}
        return read_answered(cursor, _RECENT, parameters, image_hosts)


_RECENT = f"""
WITH first_answers AS (
    SELECT presentation_id, min(rowid) AS written FROM judgment_events
    WHERE author = $who AND kind IN ('grade', 'cannot_tell') GROUP BY presentation_id),
mine AS (
    SELECT p.*, f.written, r.guide_hash, r.kind AS round_kind
    FROM first_answers f
    JOIN presentations p USING (presentation_id)
    JOIN round_states r USING (round_id)
    WHERE p.annotator = $who AND r.kind NOT IN ('practice', 'imported')
      AND p.presentation_id NOT IN (
          SELECT duplicate_of FROM presentations
          WHERE duplicate_of IS NOT NULL AND presentation_id IN (SELECT unnest($next::TEXT[])))
    QUALIFY row_number() OVER (PARTITION BY p.query_id, p.document_id ORDER BY f.written DESC) = 1)
SELECT m.presentation_id, s.next_revision, q.text, q.information_need, d.title, d.body, d.url, d.published,
       d.metadata, m.guide_hash, m.round_kind, false, s.kind, s.grade, s.reason, s.note, s.flagged
FROM mine m
JOIN presentation_states s USING (presentation_id)
JOIN queries q USING (query_id)
JOIN {VERSION}
WHERE s.answered
ORDER BY m.written DESC
LIMIT $limit
"""  # noqa: S608
