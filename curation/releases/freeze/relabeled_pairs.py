"""The re-labeled pairs of a project, with the change between the earlier and the new judgment.

The releases of a project without a re-labeling do not mention re-labelings. The parent is the release that
was the newest when the last re-labeling was opened, however many releases were frozen later. A pair with
several changes gets the first change in this order: document, guide, annotators.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from curation.guides.grade_meanings import group_equivalent_guides
from curation.store import Cursor

DOCUMENT_CHANGED = "document changed"
GUIDE_CHANGED = "guide changed"
ANNOTATORS_CHANGED = "annotators changed"
NO_CHANGE = "none"
"""Change between two judgments of a pair that has none of the other three changes."""
_QUARTERS = """
SELECT quarter, count(*), count(*) FILTER (whole) FROM relabeling_progress GROUP BY quarter ORDER BY quarter
"""
_FROZEN_BEFORE = """
-- the release that was frozen last before the last re-labeling was opened, in the order of the audit trail
SELECT detail::TEXT FROM events
WHERE action = 'freeze' AND rowid < (
    SELECT max(e.rowid) FROM events e
    WHERE e.action = 'open round' AND e.detail->>'plan' IN (SELECT plan_id FROM relabeling_rounds))
ORDER BY rowid DESC LIMIT 1
"""
_PAIRS = f"""
WITH newest AS (
    SELECT query_id, document_id, arg_max(n.plan_id, n.sequence) AS plan_id,
           arg_max(n.quarter, n.sequence) AS quarter
    FROM relabeling_progress n JOIN judged_versions v USING (query_id, document_id)
    WHERE n.whole AND list_contains(n.shown, v.content_hash) GROUP BY ALL),
judged AS (
    SELECT query_id, document_id, arg_max(content_hash, written) AS content_hash,
           arg_max(guide_hash, written) AS guide_hash,
           list(DISTINCT annotator ORDER BY annotator) AS annotators
    FROM counted_judgments GROUP BY ALL)
SELECT n.query_id, n.document_id, n.quarter,
       CASE WHEN a.content_hash <> j.content_hash THEN '{DOCUMENT_CHANGED}'
            WHEN map($names, $lines)[a.guide_hash] <> map($names, $lines)[j.guide_hash] THEN '{GUIDE_CHANGED}'
            WHEN len(a.annotators) > 0 AND a.annotators <> j.annotators THEN '{ANNOTATORS_CHANGED}'
            ELSE '{NO_CHANGE}' END
FROM newest n JOIN relabeling_pairs a USING (plan_id, query_id, document_id)
JOIN judged j USING (query_id, document_id)
ORDER BY n.query_id, n.document_id
"""  # noqa: S608  words from above


def read_relabeling_fields(cursor: Cursor, retired: Mapping[str, str]) -> dict[str, Any]:
    """Read the fields of the release's header about re-labelings: 'parent', 'relabeled' and 'retired'.

    Parameters
    ----------
    retired: query id → the reason why the query was retired.
    """
    fields: dict[str, Any] = {}
    quarters = cursor.execute(_QUARTERS).fetchall()
    if quarters:
        names = ("quarter", "pairs", "whole")
        earlier_freezes = cursor.execute(_FROZEN_BEFORE).fetchall()
        fields["parent"] = str(json.loads(earlier_freezes[0][0])["release"]) if earlier_freezes else None
        fields["relabeled"] = [dict(zip(names, row, strict=True)) for row in quarters]
    if retired:
        fields["retired"] = dict(sorted(retired.items()))
    return fields


def read_relabeled_pairs(cursor: Cursor) -> list[tuple[str, str, str, str]]:
    """Read the query id, document id, quarter and change of each pair that was judged again, ordered by
    ids."""
    guide_lines = group_equivalent_guides(cursor)
    names, lines = list(guide_lines), list(guide_lines.values())
    return cursor.execute(_PAIRS, {"names": names, "lines": lines}).fetchall()
