"""The expected cost of grading: the number of grades, and the time that each person needs."""

from __future__ import annotations

from typing import NamedTuple

from curation.core.text import pluralize
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import OpenedRound
from curation.labeling.rounds.pace import MIN_ANSWERS, MIN_SECONDS
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.pooling.pooled_queries import describe_left_out, find_judged_elsewhere
from curation.pooling.request import FIRST_POOL, PoolRequest
from curation.pooling.stored_pool import describe_rebuild, find_last_pool
from curation.store import Cursor

DEFAULT_SECONDS = 15.0
"""Assumed seconds for a grade, until the project has enough answers with a measured time."""
# The time of the first answer, because a later change of a grade takes only a moment.
_TIMES = """
SELECT count(*), median(active_ms) / 1000 FROM (
    SELECT active_ms FROM judgment_events WHERE kind IN ('grade', 'cannot_tell')
    QUALIFY row_number() OVER (PARTITION BY presentation_id ORDER BY revision) = 1)
WHERE active_ms >= ?
"""


class GradingPace(NamedTuple):
    """The seconds that a grade takes, and a sentence that says what the number is based on."""

    seconds: float
    basis: str

    def describe_time(self, grades: float) -> str:
        """Return the time needed for a number of grades, as text such as `about 2.1 h`."""
        minutes = grades * self.seconds / 60
        return f"about {minutes / 60:,.1f} h" if minutes >= 60 else f"about {max(1, round(minutes))} min"


def read_pace(cursor: Cursor) -> GradingPace:
    """Read the median time spent on the project's answers, in seconds; answers too fast to have been read do
    not count."""
    answers, median = cursor.execute(_TIMES, [MIN_SECONDS * 1000]).fetchall()[0]
    if answers < MIN_ANSWERS:
        return GradingPace(
            DEFAULT_SECONDS,
            f"The estimate assumes {DEFAULT_SECONDS:g} s for each grade, until {MIN_ANSWERS} grades have "
            "been timed.",
        )
    return GradingPace(
        median, f"Based on the median time of {answers:,} grades in this project: {median:.1f} s."
    )


def forecast_sample_cost(cursor: Cursor, queries: int) -> str:
    """Describe the grades and time that a sample will need, assuming the current pool's number of documents
    per query."""
    pool = find_last_pool(cursor)
    pairs = FIRST_POOL.limit_pairs(queries)
    if pool is not None:
        pairs = queries * round(pool.report["candidates"] / pool.report["queries"])
    return _forecast(cursor, queries, pairs, "about ")


def forecast_pool(cursor: Cursor, request: PoolRequest) -> list[str]:
    """Describe the most grades and time that a pool can need, and how it differs from the current pool."""
    left_out = set() if request.judged_queries else find_judged_elsewhere(cursor)
    queries = sum(query.query_id not in left_out for query in read_active_queries(cursor))
    pool = find_last_pool(cursor)
    if not queries or not request.systems:
        return []
    changes = describe_left_out(cursor, request.judged_queries)
    changes += [] if pool is None else [describe_rebuild(pool, request, queries)]
    return [*changes, _forecast(cursor, queries, request.limit_pairs(queries), "at most ")]


def _forecast(cursor: Cursor, queries: int, pairs: int, bound: str) -> str:
    people = len(select_default_names(list_eligible_annotators(cursor))) or RoundRequest.overlap
    sizes = (queries, pairs, min(RoundRequest.overlap, people), people)
    return _describe(read_pace(cursor), sizes, bound)


def describe_round_cost(pace: GradingPace, planned: OpenedRound) -> str:
    """Describe the grades and time that a round needs, with its blind duplicates and control items."""
    duplicates, control_items = sum(planned.duplicates.values()), sum(planned.control_items.values())
    overlap = (planned.presentations - duplicates - control_items) // planned.candidates
    sizes = (planned.queries, planned.candidates, overlap, len(planned.per_annotator))
    return _describe(pace, sizes, "", ("blind duplicate", duplicates), ("control item", control_items))


def _describe(pace: GradingPace, sizes: tuple[int, ...], bound: str = "", *more: tuple[str, int]) -> str:
    """Describe how many grades are needed and how long they take, given the numbers of queries, pairs, grades
    and people, and the noun and number of each kind of further items."""
    queries, pairs, overlap, people = sizes
    about = bound or ("about " if pairs % queries else "")
    documents = about + pluralize(round(pairs / queries), "document")
    product = (
        f"{pluralize(queries, 'query', 'queries')} × {documents} × {pluralize(overlap, 'person', 'people')}"
    )
    grades = bound + pluralize(pairs * overlap, "grade")
    grades += "".join(f" + {pluralize(count, noun)}" for noun, count in more if count)
    time = pace.describe_time((pairs * overlap + sum(count for _, count in more)) / people)
    each = "each" if people == overlap else f"for each of {people} people"
    return f"{product} = {grades}, {time} {each}. {pace.basis}"
