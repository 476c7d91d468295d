"""What a project holds in numbers, for those who watch a server: no text, no name and no grade."""

from __future__ import annotations

from typing import NamedTuple

from curation.store import Cursor, Store


class CountedProject(NamedTuple):
    """The numbers of a project.

    Attributes
    ----------
    events: of annotators, by kind.
    open: presentations that wait for an answer, in rounds that are neither closed nor paused.
    jobs: that have ended, by outcome.
    file_bytes: of the project's file.
    """

    events: dict[str, int]
    open: int
    jobs: dict[str, int]
    file_bytes: int


_EVENTS = "SELECT kind, count(*) FROM judgment_events GROUP BY kind ORDER BY kind"


_JOBS = "SELECT outcome, count(*) FROM job_endings GROUP BY outcome ORDER BY outcome"


_OPEN = """
SELECT count(*)
FROM live_presentations p JOIN round_states r USING (round_id)
WHERE NOT r.closed AND NOT r.paused AND r.kind != 'imported'
  AND p.presentation_id NOT IN (SELECT presentation_id FROM presentation_states WHERE answered)
"""


def count_project(store: Store) -> CountedProject:
    """Count what a project holds now."""
    with store.reading() as cursor:
        ((waiting,),) = cursor.execute(_OPEN).fetchall()
        events, jobs = _by_kind(cursor, _EVENTS), _by_kind(cursor, _JOBS)
    return CountedProject(events, waiting, jobs, store.path.stat().st_size)


def _by_kind(cursor: Cursor, sql: str) -> dict[str, int]:
    return dict(cursor.execute(sql).fetchall())
