"""People's sample: which queries people graded of those that a judge graded, and how likely each was to be.

People's grades can correct a judge only where chance said which queries they grade. Chance that goldgrade has
on record is the draw, whose first queries an earlier sample holds before a top-up, and the split, which puts
queries into parts at random within strata. Everything is the project's current sample, or the release's
queries where none was drawn. A query of it without people's grades is then one of a later top-up, or of a
part that is not evaluated. Any other was left out by somebody's choice, or by what annotators managed or
disputed, and then no probability is known: such a sample is refused.

A query's probability is the share of its stratum that people graded.

Where a round was opened over a random draw of the queries (`labeling.rounds.query_draw`), everything is what
it was drawn from, and people's queries are those that it drew and that are evaluated. Queries that people
graded besides are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from curation.core.errors import RefusedError
from curation.core.statistics.arrays import Floats, Mask
from curation.core.text import amount
from curation.releases.verify import FrozenRelease
from curation.store import Cursor, get_setting

if TYPE_CHECKING:
    from curation.labeling.rounds.query_draw import QueryDraw

NOT_DRAWN = "evaluated query that was not drawn from the traffic"
NOT_IN_DRAW = "evaluated query that the draw for people did not draw"


class HumanSample(NamedTuple):
    """All N queries in the order of their ids, and which of them people graded.

    Attributes
    ----------
    asked: shape (N,), evaluated queries. probabilities: shape (N,), of being one.
    searches: shape (N,), how many searches each query of the sample represents; None where none was drawn.
    chosen_by: what chose the evaluated queries: 'draw', 'split' or 'top-up', or two of them.
    left_out: reason → number of evaluated queries.
    """

    query_ids: tuple[str, ...]
    strata: tuple[str, ...]
    asked: Mask
    probabilities: Floats
    searches: Floats | None
    chosen_by: tuple[str, ...]
    left_out: Mapping[str, int]


class _FrameRow(NamedTuple):
    stratum: str
    searches: float | None


def peoples_sample(cursor: Cursor, release: FrozenRelease, evaluated: Collection[str]) -> HumanSample:
    """How the evaluated queries of a release were chosen.

    Raises
    ------
    RefusedError: they are no probability sample of a larger set.
    """
    from curation.labeling.rounds.query_draw import read_draws  # with pydantic, a tenth of a small evaluation

    graded = {row["query_id"] for row in release.rows("queries")}
    draws = [draw for draw in read_draws(cursor) if not draw.drawn.isdisjoint(evaluated)]
    whole = next((draw for draw in draws if draw.drawn <= graded), None)
    if whole is not None:
        return _of_draw(cursor, release, whole, evaluated)
    begun = next((draw for draw in draws if draw.drawn >= graded), None)
    if begun is not None:
        _refuse_by_choice(release, begun.drawn, "that a round drew for people", "")
    return _of_sample(cursor, release, evaluated)


def _of_draw(
    cursor: Cursor, release: FrozenRelease, draw: QueryDraw, evaluated: Collection[str]
) -> HumanSample:
    """Of the queries that a round was drawn from, those that it drew and that are evaluated."""
    ids = tuple(sorted(draw.strata))
    people = draw.drawn.intersection(evaluated)
    elsewhere = len(draw.drawn) - len(people)
    if elsewhere:
        _refuse_by_time(release)
    asked, sample = np.isin(ids, sorted(people)), _sample(cursor)
    strata = tuple(draw.strata[query_id] for query_id in ids)
    known = all(query_id in sample for query_id in ids)
    searches = np.array([sample[one].searches for one in ids], np.float64) if known else None
    chosen_by = ("draw", "split") if elsewhere else ("draw",)
    return sample_of(ids, strata, asked, chosen_by, {NOT_IN_DRAW: len(evaluated) - len(people)}, searches)


def _of_sample(cursor: Cursor, release: FrozenRelease, evaluated: Collection[str]) -> HumanSample:
    """Of the current sample, or of the release's queries, those that are evaluated."""
    drawn = [row["query_id"] for row in release.rows("queries") if row["inclusion_probability"] is not None]
    by_draw = bool(release.rows("sampling")) and not set(drawn).isdisjoint(evaluated)
    frame = _sample(cursor) if by_draw else _release_frame(release)
    people = sorted(set(evaluated).intersection(frame)) if by_draw else sorted(evaluated)
    if by_draw:
        _refuse_outside(release, set(drawn).difference(frame))
    ids = tuple(sorted(frame))
    if len(people) == len(ids):
        raise RefusedError(
            f"People graded all {amount(len(ids), 'query', 'queries')} that the judge could be used on, so "
            "it has nothing to add. It saves grades where it judged queries that people did not: draw more "
            "(`goldgrade sample --top-up`), pool them, and import the judge's judgments of them."
        )
    later = _later(cursor, drawn, frame) if by_draw else set()
    smaller = ", or draw the smaller sample first and top it up for the judge"
    _refuse_by_choice(release, set(ids).difference(later), "that were drawn for people", smaller)
    others = len(ids) - len(people) - len(later)
    if others:
        _refuse_by_time(release)
    asked = np.isin(ids, people)
    strata = tuple(frame[query_id].stratum for query_id in ids)
    searches = np.array([frame[query_id].searches for query_id in ids], np.float64) if by_draw else None
    chosen_by = [name for name, count in (("split", others), ("top-up", len(later))) if count]
    return sample_of(ids, strata, asked, chosen_by, {NOT_DRAWN: len(evaluated) - len(people)}, searches)


def sample_of(
    ids: Iterable[str],
    strata: Sequence[str],
    asked: Mask,
    chosen_by: Sequence[str],
    left_out: Mapping[str, int],
    searches: Floats | None = None,
) -> HumanSample:
    """A sample whose probabilities are the share of each stratum that people graded.

    Raises
    ------
    RefusedError: a stratum of which they graded nothing.
    """
    chances, reasons = _probabilities(strata, asked), {why: count for why, count in left_out.items() if count}
    return HumanSample(tuple(ids), tuple(strata), asked, chances, searches, tuple(chosen_by), reasons)


def _sample(cursor: Cursor) -> dict[str, _FrameRow]:
    rows = cursor.execute(
        "SELECT query_id, stratum, traffic, inclusion_probability FROM sample_queries WHERE sample_id = ?",
        [get_setting(cursor, "sample")],
    ).fetchall()
    return {
        query_id: _FrameRow(stratum, traffic / probability)
        for query_id, stratum, traffic, probability in rows
    }


def _release_frame(release: FrozenRelease) -> dict[str, _FrameRow]:
    return {row["query_id"]: _FrameRow(str(row["stratum"]), None) for row in release.rows("queries")}


def _refuse_outside(release: FrozenRelease, outside: Collection[str]) -> None:
    if outside:
        raise RefusedError(
            f"The project's current sample lacks {amount(len(outside), 'query', 'queries')} of the release "
            f"{release.row.name!r}, such as {some_of(outside)}: it is another draw, so nothing says how "
            "likely people were to grade each of its queries. A top-up keeps the earlier ones: "
            "`goldgrade sample --top-up`."
        )


def _later(cursor: Cursor, drawn: Collection[str], frame: Mapping[str, _FrameRow]) -> set[str]:
    """The queries of the frame that the smallest earlier sample with all of the release's queries lacks."""
    held: dict[str, set[str]] = {}
    for sample_id, query_id in cursor.execute("SELECT sample_id, query_id FROM sample_queries").fetchall():
        held.setdefault(sample_id, set()).add(query_id)
    fitting = [queries for queries in held.values() if queries.issuperset(drawn) and queries.issubset(frame)]
    smallest = min(fitting, key=lambda queries: len(queries), default=set(frame))
    return set(frame).difference(smallest)


def _refuse_by_choice(release: FrozenRelease, drawn: Collection[str], which: str, or_else: str) -> None:
    """Stop where queries lack people's grades and neither the draw nor the split says why."""
    missing = set(drawn).difference(row["query_id"] for row in release.rows("queries"))
    if missing:
        raise RefusedError(
            f"{len(missing):,} of the {amount(len(drawn), 'query', 'queries')} {which} have no grade of "
            f"theirs in the release {release.row.name!r}, such as {some_of(missing)}. Which were graded was "
            "not left to chance alone, so people's grades are no probability sample. Grade and settle "
            f"these{or_else}, and freeze again."
        )


def _refuse_by_time(release: FrozenRelease) -> None:
    if release.rows("split")[0]["parameters"].get("by_time"):
        raise RefusedError(
            f"The split of the release {release.row.name!r} goes by time, so the queries of a part are no "
            "random sample of all. Freeze a balanced split, and the judge can be used with it."
        )


def _probabilities(strata: Collection[str], asked: Mask) -> Floats:
    """The share of each stratum that people graded."""
    all_of = Counter(strata)
    graded = Counter(stratum for stratum, mine in zip(strata, asked.tolist(), strict=True) if mine)
    without = sorted(stratum for stratum in all_of if not graded[stratum])
    if without:
        raise RefusedError(
            f"People graded no query of {', '.join(without)}: these could not be in their sample, so nothing "
            "corrects the judge there. Top these strata up and grade them, or draw with fewer strata."
        )
    return np.array([graded[stratum] / all_of[stratum] for stratum in strata])


def some_of(names: Collection[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names)[:3])
