"""Workloads: what each person has judged and still has to judge, over all rounds."""

from __future__ import annotations

from typing import NamedTuple

from curation.store import Cursor, fetch


class Workload(NamedTuple):
    """Of one annotator: answers that count as judgments, and open items of rounds that are not closed."""

    annotator: str
    answered: int
    open: int


def workloads(cursor: Cursor) -> dict[str, Workload]:
    """The workload of everybody who has any, by name; imported judgments are answers, too."""
    return {one.annotator: one for one in fetch(cursor, Workload, _WORKLOADS)}


_WORKLOADS = """
SELECT p.annotator, count(*) FILTER (s.answered AND r.kind NOT IN ('pilot', 'practice')),
       count(*) FILTER (NOT coalesce(s.answered, false) AND NOT r.closed)
FROM live_presentations p
JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
GROUP BY p.annotator
"""
