"""The random sample of queries whose human grades correct a judge.

People's grades can correct a judge only if chance chose the queries that people graded. goldgrade knows two
such choices: the draw of the sample, before a top-up adds queries, and the split, which puts queries into
parts at random within strata. The population is the project's current sample, or the release's queries where
no sample was drawn. A query of the population without people's grades belongs to a later top-up, or to a part
that is not evaluated. Any other query without grades was left out by somebody's choice, by the pace of
annotators or by disputes. The inclusion probability of the query is then unknown, and the sample is refused.

The probability of a query is the share of its stratum that people graded.

Where a round was opened over a random draw of the queries (`labeling.rounds.query_draw`), the population is
the queries from which the round was drawn, and people's queries are the evaluated queries that it drew.
Graded queries that the round did not draw are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from curation.core.errors import RefusedError
from curation.core.statistics.arrays import Floats, Mask
from curation.core.text import pluralize
from curation.releases.frozen_release import FrozenRelease
from curation.store import Cursor, get_setting

if TYPE_CHECKING:
    from curation.labeling.rounds.query_draw import QueryDraw

FrameRow = tuple[str, float | None]
"""Stratum of a query, and the number of searches that the query represents, if known."""
NOT_DRAWN = "evaluated query that was not drawn from the traffic"
NOT_IN_DRAW = "evaluated query that was not drawn for people"


class HumanSample(NamedTuple):
    """A population of N queries, sorted by id, with a mark on the queries that people graded.

    Attributes
    ----------
    is_graded: whether people graded each query for the evaluation, shape (N,).
    probabilities: the probability of each query of being graded, shape (N,).
    searches: the number of searches that each query represents, shape (N,); None if no sample was drawn.
    chosen_by: the steps that chose the graded queries: 'draw', 'split', 'top-up', or two of these.
    left_out: reason → number of evaluated queries.
    """

    query_ids: tuple[str, ...]
    strata: tuple[str, ...]
    is_graded: Mask
    probabilities: Floats
    searches: Floats | None
    chosen_by: tuple[str, ...]
    left_out: Mapping[str, int]


def find_human_sample(cursor: Cursor, release: FrozenRelease, evaluated: Collection[str]) -> HumanSample:
    """Find the random draw that decided which of a release's queries people graded.

    Raises
    ------
    RefusedError: the queries are not a probability sample of a larger set.
    """
    from curation.labeling.rounds.query_draw import read_draws  # pydantic takes a tenth of a small evaluation

    graded = {row["query_id"] for row in release.rows("queries")}
    draws = [draw for draw in read_draws(cursor) if not draw.drawn.isdisjoint(evaluated)]
    complete_draw = next((draw for draw in draws if draw.drawn <= graded), None)
    if complete_draw is not None:
        return _sample_draw(cursor, release, complete_draw, evaluated)
    started_draw = next((draw for draw in draws if draw.drawn >= graded), None)
    if started_draw is not None:
        _refuse_chosen_queries(release, started_draw.drawn, "that a round drew for people", "")
    return _sample_project(cursor, release, evaluated)


def _sample_draw(
    cursor: Cursor, release: FrozenRelease, draw: QueryDraw, query_ids: Collection[str]
) -> HumanSample:
    """Make the sample of evaluated queries that a round drew from the queries available before the draw."""
    ids = tuple(sorted(draw.strata))
    people = draw.drawn.intersection(query_ids)
    in_other_parts = len(draw.drawn) - len(people)
    if in_other_parts:
        _refuse_split_by_time(release)
    is_graded = np.isin(ids, sorted(people))
    sample = _read_current_sample(cursor)
    strata = tuple(draw.strata[query_id] for query_id in ids)
    is_known = all(query_id in sample for query_id in ids)
    searches = np.array([sample[query_id][1] for query_id in ids], np.float64) if is_known else None
    left_out = {NOT_IN_DRAW: len(query_ids) - len(people)}
    chosen_by = ("draw", "split") if in_other_parts else ("draw",)
    return make_human_sample(ids, strata, is_graded, chosen_by, left_out, searches)


def _sample_project(cursor: Cursor, release: FrozenRelease, evaluated: Collection[str]) -> HumanSample:
    """Make the sample of evaluated queries from the current sample, or from the release's queries."""
    drawn = [row["query_id"] for row in release.rows("queries") if row["inclusion_probability"] is not None]
    by_draw = bool(release.rows("sampling")) and not set(drawn).isdisjoint(evaluated)
    top_ups: set[str] = set()
    if by_draw:
        frame = _read_current_sample(cursor)
        _refuse_other_sample(release, set(drawn).difference(frame))
        top_ups = _find_top_ups(cursor, drawn, frame)
    else:
        frame = {row["query_id"]: (str(row["stratum"]), None) for row in release.rows("queries")}
    graded_ids = sorted(set(evaluated).intersection(frame))
    query_ids = tuple(sorted(frame))
    if len(graded_ids) == len(query_ids):
        raise RefusedError(
            f"People graded all {pluralize(len(query_ids), 'query', 'queries')} that the judge could grade, "
            "so the judge has nothing to add. A judge helps only on queries that people did not grade: "
            "draw more queries (`goldgrade sample --top-up`), pool these queries, and import the judge's "
            "judgments."
        )
    way_out = ", or draw the smaller sample first and top it up for the judge"
    _refuse_chosen_queries(release, set(query_ids).difference(top_ups), "that were drawn for people", way_out)
    in_other_parts = len(query_ids) - len(graded_ids) - len(top_ups)
    if in_other_parts:
        _refuse_split_by_time(release)
    is_graded = np.isin(query_ids, graded_ids)
    strata = tuple(frame[query_id][0] for query_id in query_ids)
    searches = np.array([frame[query_id][1] for query_id in query_ids], np.float64) if by_draw else None
    left_out = {NOT_DRAWN: len(evaluated) - len(graded_ids)}
    chosen_by = [name for name, count in (("split", in_other_parts), ("top-up", len(top_ups))) if count]
    return make_human_sample(query_ids, strata, is_graded, chosen_by, left_out, searches)


def make_human_sample(
    ids: Iterable[str],
    strata: Sequence[str],
    is_graded: Mask,
    chosen_by: Sequence[str],
    left_out: Mapping[str, int],
    searches: Floats | None = None,
) -> HumanSample:
    """Make a sample in which each query's probability is the share of its stratum that was graded.

    Raises
    ------
    RefusedError: people graded no query of a stratum.
    """
    names, index = np.unique(np.asarray(strata, np.str_), return_inverse=True)
    shares = np.bincount(index, is_graded, len(names)) / np.bincount(index, minlength=len(names))
    ungraded = names[shares == 0].tolist()
    if ungraded:
        raise RefusedError(
            f"People graded no query of {', '.join(ungraded)}, so nothing corrects the judge in these "
            "strata. Top up and grade these strata, or draw with fewer strata."
        )
    reasons = {why: count for why, count in left_out.items() if count}
    chances = shares[index]
    return HumanSample(tuple(ids), tuple(strata), is_graded, chances, searches, tuple(chosen_by), reasons)


def _read_current_sample(cursor: Cursor) -> dict[str, FrameRow]:
    sql = "SELECT query_id, stratum, traffic, inclusion_probability FROM sample_queries WHERE sample_id = ?"
    rows = cursor.execute(sql, [get_setting(cursor, "sample")]).fetchall()
    return {query_id: (stratum, traffic / probability) for query_id, stratum, traffic, probability in rows}


def _refuse_other_sample(release: FrozenRelease, missing: Collection[str]) -> None:
    """Reject a release that contains queries outside the project's current sample."""
    if missing:
        raise RefusedError(
            f"The project's current sample lacks {pluralize(len(missing), 'query', 'queries')} of the "
            f"release {release.row.name!r}, such as {name_examples(missing)}: the release has a different "
            "draw, so the probability that people graded a query is unknown. A top-up keeps the "
            "earlier queries: `goldgrade sample --top-up`."
        )


def _find_top_ups(cursor: Cursor, drawn: Collection[str], frame: Mapping[str, FrameRow]) -> set[str]:
    """Find the queries that top-ups added to the smallest earlier sample that contains all of the release's
    queries."""
    sql = "SELECT list(query_id) FROM sample_queries GROUP BY sample_id ORDER BY min(rowid)"
    samples: list[set[str]] = [set(query_ids) for (query_ids,) in cursor.execute(sql).fetchall()]
    candidates = [sample for sample in samples if sample.issuperset(drawn) and sample.issubset(frame)]
    smallest = min(candidates, key=lambda sample: len(sample), default=set(frame))
    return set(frame).difference(smallest)


def _refuse_chosen_queries(release: FrozenRelease, drawn: Collection[str], origin: str, way_out: str) -> None:
    """Reject queries that lack people's grades, unless the random draw or the split left these queries
    out."""
    missing = set(drawn).difference(row["query_id"] for row in release.rows("queries"))
    if missing:
        raise RefusedError(
            f"{len(missing):,} of the {pluralize(len(drawn), 'query', 'queries')} {origin} have no "
            f"grade by people in the release {release.row.name!r}, such as {name_examples(missing)}. The "
            "graded queries were not chosen only by chance, so people's grades are not a probability sample. "
            f"Grade these queries and resolve disputes{way_out}, and freeze again."
        )


def _refuse_split_by_time(release: FrozenRelease) -> None:
    """Reject a split by time, because its parts are not random samples."""
    if release.rows("split")[0]["parameters"].get("by_time"):
        raise RefusedError(
            f"The split of the release {release.row.name!r} is by time, so the queries of a part are "
            "not a random sample of all queries. To use the judge, freeze a release with a balanced split."
        )


def name_examples(names: Collection[str]) -> str:
    """Write the first three of several names, as examples in an error message."""
    return ", ".join(repr(name) for name in sorted(names)[:3])
