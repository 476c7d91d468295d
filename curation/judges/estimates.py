"""Evaluation with a judge: what systems reach on all queries, by the judge's grades that people's correct.

The unit is the query. Measures such as nDCG are made of all grades of a query at once, so neither they nor
what the judge gets wrong about them is a mean over pairs; and queries, not pairs, are what was drawn. Each
query has a value under the judge's grades. Those that people graded have one under people's grades as well,
and the differences correct the mean over all (`statistics.prediction_powered`).

The judge must have graded the whole pool of every query, in the version of the release's corpus. Were its
grades missing more often where people graded nothing, the differences would not be those of all queries. Its
grades of documents outside the pool are not used, for the same reason. Nothing is said of sealed parts: with
a judge made for it, the weight that is tuned would tell the value of a single query.

People's grades can correct a judge only where chance said which queries they grade. Chance that goldset has
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
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from curation.errors import RefusedError
from curation.judges.stored import judgments_of, require_judge
from curation.progress import Progress, silent
from curation.releases.verify import Opened, opened
from curation.scoring.inputs.release import EvaluatedRelease, read_release
from curation.scoring.inputs.system_runs import ReadingOptions, RunSource, read_run
from curation.scoring.metrics.engine import score_rows
from curation.scoring.metrics.measures import Measure, measures_for
from curation.scoring.metrics.qrels import Qrels, qrels_of
from curation.similarity.identical import Identical
from curation.sources.queries import KnownQueries
from curation.statistics.arrays import Floats, Mask
from curation.statistics.prediction_powered import (
    MeanInterval,
    PredictionPoweredMean,
    prediction_powered_mean,
)
from curation.store import Cursor, Store, get_setting
from curation.text import amount

if TYPE_CHECKING:
    from curation.labeling.rounds.query_draw import QueryDraw

PairKey = tuple[str, str]


@dataclass(frozen=True)
class JudgedSystem:
    """The estimates of one system, by measure; none of measures that no query has under people's grades.

    Attributes
    ----------
    overall: each query of everything alike. traffic: for all searches; empty where no query was drawn.
    too_few: of answers, measure → people's queries, where these are too few for an estimate.
    """

    name: str
    overall: Mapping[str, PredictionPoweredMean]
    traffic: Mapping[str, PredictionPoweredMean]
    too_few: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgedEvaluation:
    """What systems reach on everything that a judge graded, corrected by people's grades.

    Attributes
    ----------
    everything, people: queries that the judge graded, and evaluated ones of these, which people graded.
    strata: stratum → (people, everything).
    chosen_by: what chose people's queries: 'split', 'top-up' or both.
    grades: pairs that the judge graded; cannot_tell: it judged and could not.
    left_out: reason → number of evaluated queries.
    not_drawn: pooled pairs of the evaluated queries that a sample of the pool left out; they count as not
        relevant, by the judge's grades and by people's.
    """

    judge: str
    everything: int
    people: int
    strata: Mapping[str, tuple[int, int]]
    chosen_by: tuple[str, ...]
    grades: int
    cannot_tell: int
    left_out: Mapping[str, int]
    runs: tuple[JudgedSystem, ...]
    not_drawn: int = 0


def judged_estimates(
    store: Store,
    release_name: str | Opened,
    runs: Sequence[RunSource],
    judge: str,
    split: str | None = None,
    measures: Sequence[str] | None = None,
    relevant: int | None = None,
    reading: ReadingOptions = ReadingOptions(),
    progress: Progress = silent,
) -> JudgedEvaluation:
    """Estimate measures on all queries that the judge graded.

    Parameters
    ----------
    split, measures, relevant, reading: as for `evaluate`.

    Raises
    ------
    InputError: options that mean nothing here, or run files that cannot be taken.
    NotFoundError: there is no such release or judge.
    RefusedError: a part is sealed; people's queries are no probability sample; the judge did not grade all
        pools.
    """
    frozen = opened(store, release_name)
    release = read_release(store, frozen, split, relevant)
    refuse_sealed(release)
    with store.reading() as cursor:
        sample, said = judged_sample(cursor, frozen, judge, release.qrels.query_ids, Identical(()))
        known = KnownQueries.read(cursor)
    graded = [(*pair, grade) for pair, grade in said.items() if grade is not None]
    qrels = qrels_of(graded, sample.query_ids, release.qrels.scale, release.qrels.relevant)
    chosen = [
        one
        for one in measures_for(release.qrels.scale, measures)
        if one.compares and not (one.alpha or one.of_chunks)
    ]
    by_judge = _values(runs, replace(release, qrels=qrels, known=known), chosen, reading, progress)
    by_people = _values(runs, release, chosen, reading, progress)
    estimates = judged_evaluation(judge, sample, said)
    return replace(
        estimates,
        runs=tuple(
            _system(name, by_judge[name], by_people[name], chosen, sample, release.qrels) for name in by_judge
        ),
        not_drawn=sum(
            len(stratum.documents - stratum.drawn)
            for strata in (release.pool_sample or {}).values()
            for stratum in strata
        ),
    )


def judged_evaluation(
    judge: str, sample: PeoplesSample, said: Mapping[PairKey, int | None]
) -> JudgedEvaluation:
    """What the judge and people graded; the estimates of systems are put to it."""
    everything = Counter(sample.strata)
    people = Counter(compress(sample.strata, sample.asked.tolist()))
    return JudgedEvaluation(
        judge=judge,
        everything=len(sample.query_ids),
        people=int(sample.asked.sum()),
        strata={name: (people[name], everything[name]) for name in sorted(everything)},
        chosen_by=sample.chosen_by,
        grades=sum(grade is not None for grade in said.values()),
        cannot_tell=sum(grade is None for grade in said.values()),
        left_out=sample.left_out,
        runs=(),
    )


def refuse_sealed(release: EvaluatedRelease) -> None:
    """Stop where a judge would be used on a sealed part."""
    if release.sealed:
        raise RefusedError(
            f"{', '.join(release.sealed)} of the release {release.name!r} is sealed, and a judge made for it "
            "could tell the value of a single query. Name a part that is not sealed with --part: the "
            "judge's grades of all queries are used with it all the same."
        )


def judged_sample(
    cursor: Cursor, frozen: Opened, judge: str, evaluated: Collection[str], identical: Identical
) -> tuple[PeoplesSample, dict[PairKey, int | None]]:
    """What people graded of what, and the judge's grade of every pair of its pools.

    Parameters
    ----------
    identical: documents with the same text, of which the judge may have graded another one than the pool has.

    Raises
    ------
    NotFoundError: there is no such judge.
    RefusedError: people's queries are no probability sample; the judge lacks some pairs.
    """
    require_judge(cursor, judge)
    pins = {row["document_id"]: row["content_hash"] for row in frozen.rows("documents")}
    sample = peoples_sample(cursor, frozen, evaluated)
    return sample, _judge_grades(cursor, judge, sample.query_ids, pins, identical)


def _judge_grades(
    cursor: Cursor, judge: str, query_ids: Sequence[str], pins: Mapping[str, str], identical: Identical
) -> dict[PairKey, int | None]:
    """The judge's grade of every pair of these queries' pools; None where it could not tell.

    Raises
    ------
    RefusedError: it lacks some of them, or a query has no pool.
    """
    rows = cursor.execute(
        """SELECT query_id, document_id FROM candidates WHERE query_id IN (SELECT unnest(?::TEXT[]))
        ORDER BY query_id, document_id""",
        [list(query_ids)],
    ).fetchall()
    pool = [(query_id, document_id) for query_id, document_id in rows if document_id in pins]
    kept = (row for row in judgments_of(cursor, judge) if pins.get(row.document_id) == row.content_hash)
    said = identical.shared({(row.query_id, row.document_id): row.grade for row in kept})
    _refuse_ungraded(judge, query_ids, pool, said)
    return {pair: said[pair] for pair in pool}


def _refuse_ungraded(
    judge: str, query_ids: Sequence[str], pool: Sequence[PairKey], said: Mapping[PairKey, int | None]
) -> None:
    empty = sorted(set(query_ids).difference(query for query, _ in pool))
    if empty:
        raise RefusedError(
            f"{len(empty):,} of the {amount(len(query_ids), 'query', 'queries')} have no pool, such as "
            f"{empty[0]!r}, so "
            "nothing says which documents the judge was to grade. Pool them first: `goldset pool`."
        )
    missing = [pair for pair in pool if pair not in said]
    if missing:
        queries = len({query for query, _ in missing})
        raise RefusedError(
            f"The judge {judge} did not grade {len(missing):,} of the {amount(len(pool), 'pair')} in the "
            f"pools of the {amount(len(query_ids), 'query', 'queries')}; they are of "
            f"{amount(queries, 'query', 'queries')}, the first is query {missing[0][0]!r} with document "
            f"{missing[0][1]!r}. Let it grade them in the release's version of the documents, and import its "
            "judgments: `goldset import judgments FILE --judge NAME`."
        )


def _values(
    runs: Sequence[RunSource],
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    reading: ReadingOptions,
    progress: Progress,
) -> dict[str, Floats]:
    """System → value of each query and measure, shape (Q, M); the mean of several runs of one system."""
    scored: dict[str, list[Floats]] = {}
    for source in runs:
        run = read_run(source, release, reading, progress)
        scored.setdefault(source.name, []).append(score_rows(run.rows, release.qrels, measures).values)
    return {name: np.mean(values, axis=0) for name, values in scored.items()}


def _system(
    name: str,
    by_judge: Floats,
    by_people: Floats,
    measures: Sequence[Measure],
    sample: PeoplesSample,
    qrels: Qrels,
) -> JudgedSystem:
    place = {query_id: number for number, query_id in enumerate(qrels.query_ids)}
    rows = [place[query_id] for query_id in np.asarray(sample.query_ids)[sample.asked].tolist()]
    overall, traffic = {}, {}
    for column, measure in enumerate(measures):
        people = np.full(len(sample.query_ids), np.nan)
        people[sample.asked] = by_people[rows, column]
        if np.isnan(people).all():
            continue
        figures = (by_judge[:, column], people, sample.asked, sample.probabilities)
        overall[measure.name] = bounded(prediction_powered_mean(*figures))
        if sample.searches is not None:
            traffic[measure.name] = bounded(prediction_powered_mean(*figures, weights=sample.searches))
    return JudgedSystem(name, overall, traffic)


def bounded(found: PredictionPoweredMean) -> PredictionPoweredMean:
    """With intervals cut at 0 and 1: no measure goes beyond."""
    return replace(found, estimate=_within(found.estimate), classical=_within(found.classical))


def _within(one: MeanInterval) -> MeanInterval:
    if one.low is None or one.high is None:
        return one
    return one._replace(low=max(0.0, one.low), high=min(1.0, one.high))


NOT_DRAWN = "evaluated query that was not drawn from the traffic"
NOT_IN_DRAW = "evaluated query that the draw for people did not draw"
_SHOWN = 3


class PeoplesSample(NamedTuple):
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


def peoples_sample(cursor: Cursor, release: Opened, evaluated: Collection[str]) -> PeoplesSample:
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


def _of_draw(cursor: Cursor, release: Opened, draw: QueryDraw, evaluated: Collection[str]) -> PeoplesSample:
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


def _of_sample(cursor: Cursor, release: Opened, evaluated: Collection[str]) -> PeoplesSample:
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
            "(`goldset sample --top-up`), pool them, and import the judge's judgments of them."
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
) -> PeoplesSample:
    """A sample whose probabilities are the share of each stratum that people graded.

    Raises
    ------
    RefusedError: a stratum of which they graded nothing.
    """
    chances, reasons = _probabilities(strata, asked), {why: count for why, count in left_out.items() if count}
    return PeoplesSample(tuple(ids), tuple(strata), asked, chances, searches, tuple(chosen_by), reasons)


def _sample(cursor: Cursor) -> dict[str, _FrameRow]:
    rows = cursor.execute(
        "SELECT query_id, stratum, traffic, inclusion_probability FROM sample_queries WHERE sample_id = ?",
        [get_setting(cursor, "sample")],
    ).fetchall()
    return {
        query_id: _FrameRow(stratum, traffic / probability)
        for query_id, stratum, traffic, probability in rows
    }


def _release_frame(release: Opened) -> dict[str, _FrameRow]:
    return {row["query_id"]: _FrameRow(str(row["stratum"]), None) for row in release.rows("queries")}


def _refuse_outside(release: Opened, outside: Collection[str]) -> None:
    if outside:
        raise RefusedError(
            f"The project's current sample lacks {amount(len(outside), 'query', 'queries')} of the release "
            f"{release.row.name!r}, such as {some_of(outside)}: it is another draw, so nothing says how "
            "likely people were to grade each of its queries. A top-up keeps the earlier ones: "
            "`goldset sample --top-up`."
        )


def _later(cursor: Cursor, drawn: Collection[str], frame: Mapping[str, _FrameRow]) -> set[str]:
    """The queries of the frame that the smallest earlier sample with all of the release's queries lacks."""
    held: dict[str, set[str]] = {}
    for sample_id, query_id in cursor.execute("SELECT sample_id, query_id FROM sample_queries").fetchall():
        held.setdefault(sample_id, set()).add(query_id)
    fitting = [queries for queries in held.values() if queries.issuperset(drawn) and queries.issubset(frame)]
    smallest = min(fitting, key=lambda queries: len(queries), default=set(frame))
    return set(frame).difference(smallest)


def _refuse_by_choice(release: Opened, drawn: Collection[str], which: str, or_else: str) -> None:
    """Stop where queries lack people's grades and neither the draw nor the split says why."""
    missing = set(drawn).difference(row["query_id"] for row in release.rows("queries"))
    if missing:
        raise RefusedError(
            f"{len(missing):,} of the {amount(len(drawn), 'query', 'queries')} {which} have no grade of "
            f"theirs in the release {release.row.name!r}, such as {some_of(missing)}. Which were graded was "
            "not left to chance alone, so people's grades are no probability sample. Grade and settle "
            f"these{or_else}, and freeze again."
        )


def _refuse_by_time(release: Opened) -> None:
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
    return ", ".join(repr(name) for name in sorted(names)[:_SHOWN])
