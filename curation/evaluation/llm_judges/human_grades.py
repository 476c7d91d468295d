"""Human grades, with which a judge is compared, and the random sample of queries that people graded.

The grades come from the live project, or from parts of a release. Queries that a release seals are left
out, unless the parts are named with a reason.

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

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from curation.agreement.grades import Grades, QueryTypes, grades_of, read_grades, read_types
from curation.core.errors import RefusedError
from curation.core.statistics.arrays import Floats, Mask
from curation.core.text import pluralize
from curation.evaluation.scoring.release import parts_of, scale_of
from curation.guides.guide import current_guide
from curation.labeling.consensus.consensus import read_consensus
from curation.people.seal_access import sealed_parts, sealed_queries
from curation.releases.release_rows import NOT_COUNTED, Table
from curation.releases.seal import open_sealed
from curation.releases.verify import FrozenRelease, load_release
from curation.store import COMMAND_LINE, Cursor, Store, get_setting

if TYPE_CHECKING:
    from curation.labeling.rounds.query_draw import QueryDraw

PairKey = tuple[str, str]
FrameRow = tuple[str, float | None]
"""The stratum of a query, and the number of searches that the query represents; None if the number is
unknown.
"""
TWICE = "people's grade of a pair that the same annotator graded differently in two rounds"
_SEGMENTS = "SELECT query_id, metadata->>'segment' FROM queries WHERE metadata->>'segment' IS NOT NULL"
_VERSIONS = """
WITH corpus AS (
    SELECT document_id, content_hash FROM snapshot_documents
    WHERE snapshot_id = (SELECT value FROM settings WHERE name = 'corpus'))
SELECT query_id, document_id, coalesce(v.content_hash, a.content_hash, s.content_hash)
FROM judged_versions v FULL JOIN counted_adjudications a USING (query_id, document_id)
LEFT JOIN corpus s USING (document_id)
WHERE coalesce(v.content_hash, a.content_hash, s.content_hash) IS NOT NULL
"""
NOT_DRAWN = "evaluated query that was not drawn from the traffic"
NOT_IN_DRAW = "evaluated query that the draw for people did not draw"


@dataclass(frozen=True)
class HumanGrades:
    """People's grades of pairs.

    Attributes
    ----------
    release: the name of the release; None for the live project.
    parts: the parts of the release that count.
    scale: the grades of the scale, ascending.
    consensus: pair → grade; None for a pair without a consensus (disputed, or nobody could tell).
    versions: pair → the version of the document that was judged.
    given: the grades of these pairs by annotator.
    types: query ids by tag, stratum and segment.
    inside: the queries of the parts; None for the live project, where all queries but `sealed` count.
    sealed: queries that are left out because a release seals them.
    left_out: reason → number of grades.
    """

    release: str | None
    parts: tuple[str, ...]
    scale: tuple[int, ...]
    consensus: Mapping[PairKey, int | None]
    versions: Mapping[PairKey, str]
    given: Grades
    types: QueryTypes
    inside: frozenset[str] | None
    sealed: frozenset[str]
    left_out: Mapping[str, int]

    def given_for(self, pairs: Collection[PairKey]) -> Grades:
        """Keep only the annotators' grades of these pairs."""
        queries = [self.given.query_ids[query] for query in self.given.unit_queries.tolist()]
        chosen = [pair in pairs for pair in zip(queries, self.given.documents, strict=True)]
        return self.given.only(np.asarray(chosen, dtype=bool)[self.given.units])


def live_grades(cursor: Cursor) -> HumanGrades:
    """Read people's grades of the live project, without queries that a release seals."""
    sealed = frozenset(sealed_queries(cursor))
    grades = {
        (pair.query_id, pair.document_id): pair.grade
        for pair in read_consensus(cursor).pairs
        if pair.query_id not in sealed
    }
    versions = {
        (query, document): version for query, document, version in cursor.execute(_VERSIONS).fetchall()
    }
    segments = cursor.execute(_SEGMENTS).fetchall()
    return HumanGrades(
        release=None,
        parts=(),
        scale=current_guide(cursor).values,
        consensus=grades,
        versions={pair: versions[pair] for pair in grades if pair in versions},
        given=read_grades(cursor),
        types=read_types(cursor) | {"segment": _queries_by_name(segments)},
        inside=None,
        sealed=sealed,
        left_out={},
    )


def release_grades(
    store: Store,
    name: str,
    split: str | None,
    purpose: str,
    reason: str | None = None,
    actor: str = COMMAND_LINE,
) -> HumanGrades:
    """Read people's grades of a release: of one part, of `all` parts, or by default of parts that are not
    sealed.

    Raises
    ------
    InputError: the release lacks this part.
    NotFoundError: no release has this name, or the project does not know the actor.
    RefusedError: sealed grades are read without a reason, or by a person who is not a lead; all parts are
        sealed; the release is not as it was frozen.
    """
    release = load_release(store, name)
    chosen = parts_of(release, split)
    open_sealed(store, name, purpose, reason, actor, chosen)
    queries = [row for row in release.rows("queries") if row["part"] in chosen]
    inside = {row["query_id"] for row in queries}
    pins = {row["document_id"]: row["content_hash"] for row in release.rows("documents")}
    grades = {
        (row["query_id"], row["document_id"]): row["grade"]
        for row in release.rows("qrels")
        if row["query_id"] in inside and "version" not in row
    }
    given, left_out = _grades_by_annotator(release, grades)
    closed = set(sealed_parts(release.header)).difference(chosen)
    return HumanGrades(
        release=name,
        parts=chosen,
        scale=tuple(scale_of(release.rows("guides"))),
        consensus=grades,
        versions={pair: pins[pair[1]] for pair in grades},
        given=given,
        types=_query_types(queries),
        inside=frozenset(inside),
        sealed=frozenset(row["query_id"] for row in release.rows("queries") if row["part"] in closed),
        left_out=left_out,
    )


def _grades_by_annotator(
    release: FrozenRelease, pairs: Mapping[PairKey, int | None]
) -> tuple[Grades, dict[str, int]]:
    """Read the annotators' grades of these pairs, without blind duplicates, pilot rounds and older texts."""
    rounds = {row["round"]: row["kind"] for row in release.rows("rounds")}
    given: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    for row in release.rows("judgments"):
        counts = row["kind"] == "grade" and not row["duplicate"] and "version" not in row
        pair = (row["query_id"], row["document_id"])
        if counts and pair in pairs and rounds[row["round"]] not in NOT_COUNTED:
            given[*pair, row["annotator"]].add(row["grade"])
    rows = [(*key, next(iter(grades))) for key, grades in sorted(given.items()) if len(grades) == 1]
    twice = Counter({TWICE: len(given) - len(rows)})
    return grades_of(rows), dict(+twice)


def _query_types(queries: Table) -> QueryTypes:
    tags = _queries_by_name((row["query_id"], tag) for row in queries for tag in row["tags"] or [])
    strata = _queries_by_name((row["query_id"], row["stratum"]) for row in queries)
    segments = _queries_by_name((row["query_id"], row["segment"]) for row in queries if row["segment"])
    return {"tag": tags, "stratum": strata, "segment": segments}


def _queries_by_name(rows: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Group pairs of query id and name: name → query ids, ordered by name."""
    groups: dict[str, set[str]] = defaultdict(set)
    for query_id, name in rows:
        groups[name].add(query_id)
    return {name: frozenset(groups[name]) for name in sorted(groups)}


class HumanSample(NamedTuple):
    """The N queries of the population in the order of their ids, and the queries that people graded.

    Attributes
    ----------
    asked: whether people graded each query for the evaluation, shape (N,).
    probabilities: the probability of each query of being graded, shape (N,).
    searches: the number of searches that each query represents, shape (N,); None if no sample was drawn.
    chosen_by: the steps that chose the graded queries: 'draw', 'split', 'top-up', or two of these.
    left_out: reason → number of evaluated queries.
    """

    query_ids: tuple[str, ...]
    strata: tuple[str, ...]
    asked: Mask
    probabilities: Floats
    searches: Floats | None
    chosen_by: tuple[str, ...]
    left_out: Mapping[str, int]


def peoples_sample(cursor: Cursor, release: FrozenRelease, evaluated: Collection[str]) -> HumanSample:
    """Find the random choice by which the evaluated queries of a release were graded.

    Raises
    ------
    RefusedError: the queries are not a probability sample of a larger set.
    """
    from curation.labeling.rounds.query_draw import read_draws  # with pydantic, a tenth of a small evaluation

    graded = {row["query_id"] for row in release.rows("queries")}
    draws = [draw for draw in read_draws(cursor) if not draw.drawn.isdisjoint(evaluated)]
    whole = next((draw for draw in draws if draw.drawn <= graded), None)
    if whole is not None:
        return _sample_of_draw(cursor, release, whole, evaluated)
    begun = next((draw for draw in draws if draw.drawn >= graded), None)
    if begun is not None:
        _refuse_chosen_queries(release, begun.drawn, "that a round drew for people", "")
    return _sample_of_project(cursor, release, evaluated)


def _sample_of_draw(
    cursor: Cursor, release: FrozenRelease, draw: QueryDraw, evaluated: Collection[str]
) -> HumanSample:
    """Sample the evaluated queries that a round drew from the queries before the draw."""
    ids = tuple(sorted(draw.strata))
    people = draw.drawn.intersection(evaluated)
    elsewhere = len(draw.drawn) - len(people)
    if elsewhere:
        _refuse_split_by_time(release)
    asked, sample = np.isin(ids, sorted(people)), _current_sample(cursor)
    strata = tuple(draw.strata[query_id] for query_id in ids)
    known = all(query_id in sample for query_id in ids)
    searches = np.array([sample[query_id][1] for query_id in ids], np.float64) if known else None
    chosen_by = ("draw", "split") if elsewhere else ("draw",)
    return sample_of(ids, strata, asked, chosen_by, {NOT_IN_DRAW: len(evaluated) - len(people)}, searches)


def _sample_of_project(cursor: Cursor, release: FrozenRelease, evaluated: Collection[str]) -> HumanSample:
    """Sample the evaluated queries from the current sample, or from the release's queries."""
    drawn = [row["query_id"] for row in release.rows("queries") if row["inclusion_probability"] is not None]
    by_draw = bool(release.rows("sampling")) and not set(drawn).isdisjoint(evaluated)
    named = {row["query_id"]: str(row["stratum"]) for row in release.rows("queries")}
    frame = _current_sample(cursor) if by_draw else {name: (stratum, None) for name, stratum in named.items()}
    people = sorted(set(evaluated).intersection(frame)) if by_draw else sorted(evaluated)
    if by_draw:
        _refuse_other_sample(release, set(drawn).difference(frame))
    ids = tuple(sorted(frame))
    if len(people) == len(ids):
        raise RefusedError(
            f"People graded all {pluralize(len(ids), 'query', 'queries')} that the judge could be used on, "
            "so the judge has nothing to add. A judge helps only on queries that people did not grade: "
            "draw more queries (`goldgrade sample --top-up`), pool these queries, and import the judge's "
            "judgments."
        )
    later = _queries_of_top_ups(cursor, drawn, frame) if by_draw else set()
    smaller = ", or draw the smaller sample first and top it up for the judge"
    _refuse_chosen_queries(release, set(ids).difference(later), "that were drawn for people", smaller)
    others = len(ids) - len(people) - len(later)
    if others:
        _refuse_split_by_time(release)
    asked = np.isin(ids, people)
    strata = tuple(frame[query_id][0] for query_id in ids)
    searches = np.array([frame[query_id][1] for query_id in ids], np.float64) if by_draw else None
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
    """Make a sample whose probabilities are the share of each stratum that people graded.

    Raises
    ------
    RefusedError: people graded no query of a stratum.
    """
    names, number = np.unique(np.asarray(strata, np.str_), return_inverse=True)
    shares = np.bincount(number, asked, len(names)) / np.bincount(number, minlength=len(names))
    if without := names[shares == 0].tolist():
        raise RefusedError(
            f"People graded no query of {', '.join(without)}, so nothing corrects the judge in these "
            "strata. Top up and grade these strata, or draw with fewer strata."
        )
    reasons = {why: count for why, count in left_out.items() if count}
    return HumanSample(tuple(ids), tuple(strata), asked, shares[number], searches, tuple(chosen_by), reasons)


def _current_sample(cursor: Cursor) -> dict[str, FrameRow]:
    rows = cursor.execute(
        "SELECT query_id, stratum, traffic, inclusion_probability FROM sample_queries WHERE sample_id = ?",
        [get_setting(cursor, "sample")],
    ).fetchall()
    return {query_id: (stratum, traffic / probability) for query_id, stratum, traffic, probability in rows}


def _refuse_other_sample(release: FrozenRelease, outside: Collection[str]) -> None:
    """Refuse a release with queries outside the current sample."""
    if outside:
        raise RefusedError(
            f"The project's current sample lacks {pluralize(len(outside), 'query', 'queries')} of the "
            f"release {release.row.name!r}, such as {some_of(outside)}: the release has a different "
            "draw, so the chance of each query to be graded by people is unknown. A top-up keeps the "
            "earlier queries: "
            "`goldgrade sample --top-up`."
        )


def _queries_of_top_ups(cursor: Cursor, drawn: Collection[str], frame: Mapping[str, FrameRow]) -> set[str]:
    """Find the queries that top-ups added to the smallest earlier sample with all of the release's
    queries."""
    sql = "SELECT list(query_id) FROM sample_queries GROUP BY sample_id ORDER BY min(rowid)"
    samples: list[set[str]] = [set(query_ids) for (query_ids,) in cursor.execute(sql).fetchall()]
    fitting = [sample for sample in samples if sample.issuperset(drawn) and sample.issubset(frame)]
    smallest = min(fitting, key=lambda sample: len(sample), default=set(frame))
    return set(frame).difference(smallest)


def _refuse_chosen_queries(release: FrozenRelease, drawn: Collection[str], which: str, or_else: str) -> None:
    """Refuse queries without people's grades if neither the draw nor the split left them out."""
    missing = set(drawn).difference(row["query_id"] for row in release.rows("queries"))
    if missing:
        raise RefusedError(
            f"{len(missing):,} of the {pluralize(len(drawn), 'query', 'queries')} {which} have no grade by "
            f"people in the release {release.row.name!r}, such as {some_of(missing)}. The graded queries "
            "were not chosen by chance only, so people's grades are not a probability sample. Grade and "
            "settle "
            f"these queries{or_else}, and freeze again."
        )


def _refuse_split_by_time(release: FrozenRelease) -> None:
    """Refuse a split by time, because the parts are not random samples."""
    if release.rows("split")[0]["parameters"].get("by_time"):
        raise RefusedError(
            f"The split of the release {release.row.name!r} goes by time, so the queries of a part are "
            "not a random sample of all queries. To use the judge, freeze a release with a balanced split."
        )


def some_of(names: Collection[str]) -> str:
    """Name the first three of some names, as examples."""
    return ", ".join(repr(name) for name in sorted(names)[:3])
