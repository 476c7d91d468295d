"""What re-labelings did to a release: its parent, the pairs that were judged again, and retired queries.

A pair says what had changed since it was judged before. A project without a re-labeling has none of it, and
its releases are as they were.

The parent is the release that was the newest when the last re-labeling was opened: it does not depend on how
often something was frozen since.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, NamedTuple

from curation.guides.guide import guide_lines
from curation.releases.release_rows import Table
from curation.store import Cursor

DOCUMENT, GUIDE, ANNOTATORS, NONE = "document changed", "guide changed", "annotators changed", "none"
"""What was not the same the second time. A pair counts for the first that it has."""


_QUARTERS = """
SELECT quarter, count(*), count(*) FILTER (whole) FROM relabeling_progress GROUP BY quarter ORDER BY quarter
"""

_FROZEN_BEFORE = """
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
       CASE WHEN a.content_hash <> j.content_hash THEN '{DOCUMENT}'
            WHEN map($names, $lines)[a.guide_hash] <> map($names, $lines)[j.guide_hash] THEN '{GUIDE}'
            WHEN len(a.annotators) > 0 AND a.annotators <> j.annotators THEN '{ANNOTATORS}'
            ELSE '{NONE}' END
FROM newest n JOIN relabeling_pairs a USING (plan_id, query_id, document_id)
JOIN judged j USING (query_id, document_id)
ORDER BY n.query_id, n.document_id
"""  # noqa: S608  words from above


class RelabeledPairs(NamedTuple):
    """Re-labelings up to now.

    Attributes
    ----------
    parent: id of the release before the last re-labeling; None where there was none.
    quarters: quarter, pairs that were asked about, pairs that were judged whole; by quarter.
    pairs: query id, document id and quarter of each pair that was judged again whole, and what had changed,
        by ids. A pair whose grade is about another text than its re-labelings showed is not among them.
    retired: query id → reason.
    """

    parent: str | None
    quarters: tuple[tuple[str, int, int], ...]
    pairs: tuple[tuple[str, str, str, str], ...]
    retired: dict[str, str]

    def header(self) -> dict[str, Any]:
        """What the release's first row says; empty without any re-labeling."""
        found: dict[str, Any] = {}
        if self.quarters:
            names = ("quarter", "pairs", "whole")
            found["parent"] = self.parent
            found["relabeled"] = [dict(zip(names, row, strict=True)) for row in self.quarters]
        if self.retired:
            found["retired"] = dict(sorted(self.retired.items()))
        return found

    def rows(self, pairs: Collection[tuple[str, str]]) -> Table:
        """The re-labeled among these pairs."""
        names = ("query_id", "document_id", "quarter", "cause")  # as releases have stored what had changed
        return [dict(zip(names, row, strict=True)) for row in self.pairs if row[:2] in pairs]


def read_relabeled(cursor: Cursor) -> RelabeledPairs:
    """What re-labelings did up to now."""
    quarters, lines = cursor.execute(_QUARTERS).fetchall(), guide_lines(cursor)
    guides = {"names": list(lines), "lines": list(lines.values())}
    return RelabeledPairs(
        _parent(cursor) if quarters else None,
        tuple(quarters),
        tuple(cursor.execute(_PAIRS, guides).fetchall()) if quarters else (),  # to plan it takes 20 ms
        dict(cursor.execute("SELECT query_id, reason FROM retired_queries").fetchall()),
    )


def _parent(cursor: Cursor) -> str | None:
    """The release that was frozen last before the last re-labeling was opened, by the audit trail's order."""
    rows = cursor.execute(_FROZEN_BEFORE).fetchall()
    return str(json.loads(rows[0][0])["release"]) if rows else None
