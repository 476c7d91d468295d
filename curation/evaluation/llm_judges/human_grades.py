"""People's grades that a judge is compared with, and which queries of the judge's chance gave to people.

The grades come from the live project, or from parts of a release. Queries that a release seals are left
out, unless the parts are asked for with a reason.

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
"""A query's stratum, and how many searches it represents; None if nobody knows."""
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
    """What people say about pairs.

    Attributes
    ----------
    release: its name; None for the live project. parts: its parts that count.
    scale: ascending.
    consensus: the grade of each judged pair; None if none came of it (disputed, nobody could tell).
    versions: the version of the document that each of these pairs is read by.
    given: each annotator's grades of them.
    types: query ids by tag, stratum and segment.
    inside: the queries of these parts; None for the live project, where all but `sealed` count.
    sealed: queries that are left out because a release seals them.
    left_out: reason → number.
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
        """Each annotator's grades of these pairs alone."""
        queries = [self.given.query_ids[query] for query in self.given.unit_queries.tolist()]
        chosen = [pair in pairs for pair in zip(queries, self.given.documents, strict=True)]
        return self.given.only(np.asarray(chosen, dtype=bool)[self.given.units])


def live_grades(cursor: Cursor) -> HumanGrades:
    """People's grades of the live project, without queries that a release seals."""
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
        types=read_types(cursor) | {"segment": _grouped(segments)},
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
    """People's grades of a release: of a part, of all (`all`), or of those that are not sealed.

    Raises
    ------
    InputError: the release has no such part.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: sealed grades are wanted without a reason or by somebody who is no lead; all parts are
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
    given, left_out = _judgments(release, grades)
    closed = set(sealed_parts(release.header)).difference(chosen)
    return HumanGrades(
        release=name,
        parts=chosen,
        scale=tuple(scale_of(release.rows("guides"))),
        consensus=grades,
        versions={pair: pins[pair[1]] for pair in grades},
        given=given,
        types=_types(queries),
        inside=frozenset(inside),
        sealed=frozenset(row["query_id"] for row in release.rows("queries") if row["part"] in closed),
        left_out=left_out,
    )


def _judgments(release: FrozenRelease, pairs: Mapping[PairKey, int | None]) -> tuple[Grades, dict[str, int]]:
    """Each annotator's grades of these pairs: no blind duplicates, no pilots, no older texts."""
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


def _types(queries: Table) -> QueryTypes:
    tags = _grouped((row["query_id"], tag) for row in queries for tag in row["tags"] or [])
    strata = _grouped((row["query_id"], row["stratum"]) for row in queries)
    segments = _grouped((row["query_id"], row["segment"]) for row in queries if row["segment"])
    return {"tag": tags, "stratum": strata, "segment": segments}


def _grouped(rows: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Query id and name → the queries of each name, by name."""
    groups: dict[str, set[str]] = defaultdict(set)
    for query_id, name in rows:
        groups[name].add(query_id)
    return {name: frozenset(groups[name]) for name in sorted(groups)}


class HumanSample(NamedTuple):
    """All N queries in the order of their ids, and which of them people graded.

    Attributes
    ----------
    asked: shape (N,), evaluated queries. probabilities: shape (N,), of being one.
    searches: shape (N,), how many searches each query of the sample represents; None if none was drawn.
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
    """The evaluated queries that a round drew, among all queries that it was drawn from."""
    ids = tuple(sorted(draw.strata))
    people = draw.drawn.intersection(evaluated)
    elsewhere = len(draw.drawn) - len(people)
    if elsewhere:
        _refuse_by_time(release)
    asked, sample = np.isin(ids, sorted(people)), _sample(cursor)
    strata = tuple(draw.strata[query_id] for query_id in ids)
    known = all(query_id in sample for query_id in ids)
    searches = np.array([sample[query_id][1] for query_id in ids], np.float64) if known else None
    chosen_by = ("draw", "split") if elsewhere else ("draw",)
    return sample_of(ids, strata, asked, chosen_by, {NOT_IN_DRAW: len(evaluated) - len(people)}, searches)


def _of_sample(cursor: Cursor, release: FrozenRelease, evaluated: Collection[str]) -> HumanSample:
    """The evaluated queries among the current sample, or among the release's queries."""
    drawn = [row["query_id"] for row in release.rows("queries") if row["inclusion_probability"] is not None]
    by_draw = bool(release.rows("sampling")) and not set(drawn).isdisjoint(evaluated)
    named = {row["query_id"]: str(row["stratum"]) for row in release.rows("queries")}
    frame = _sample(cursor) if by_draw else {name: (stratum, None) for name, stratum in named.items()}
    people = sorted(set(evaluated).intersection(frame)) if by_draw else sorted(evaluated)
    if by_draw:
        _refuse_outside(release, set(drawn).difference(frame))
    ids = tuple(sorted(frame))
    if len(people) == len(ids):
        raise RefusedError(
            f"People graded all {pluralize(len(ids), 'query', 'queries')} that the judge could be used on, "
            "so it has nothing to add. It saves grades where it judged queries that people did not: draw "
            "more (`goldgrade sample --top-up`), pool them, and import the judge's judgments of them."
        )
    later = _later(cursor, drawn, frame) if by_draw else set()
    smaller = ", or draw the smaller sample first and top it up for the judge"
    _refuse_by_choice(release, set(ids).difference(later), "that were drawn for people", smaller)
    others = len(ids) - len(people) - len(later)
    if others:
        _refuse_by_time(release)
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
    """A sample whose probabilities are the share of each stratum that people graded.

    Raises
    ------
    RefusedError: people graded nothing of a stratum.
    """
    chances, reasons = _probabilities(strata, asked), {why: count for why, count in left_out.items() if count}
    return HumanSample(tuple(ids), tuple(strata), asked, chances, searches, tuple(chosen_by), reasons)


def _sample(cursor: Cursor) -> dict[str, FrameRow]:
    rows = cursor.execute(
        "SELECT query_id, stratum, traffic, inclusion_probability FROM sample_queries WHERE sample_id = ?",
        [get_setting(cursor, "sample")],
    ).fetchall()
    return {query_id: (stratum, traffic / probability) for query_id, stratum, traffic, probability in rows}


def _refuse_outside(release: FrozenRelease, outside: Collection[str]) -> None:
    if outside:
        raise RefusedError(
            f"The project's current sample lacks {pluralize(len(outside), 'query', 'queries')} of the "
            f"release {release.row.name!r}, such as {some_of(outside)}: it is another draw, so nothing says "
            "how likely people were to grade each of its queries. A top-up keeps the earlier ones: "
            "`goldgrade sample --top-up`."
        )


def _later(cursor: Cursor, drawn: Collection[str], frame: Mapping[str, FrameRow]) -> set[str]:
    """The queries of the frame that the smallest earlier sample with all of the release's queries lacks."""
    queries_of: dict[str, set[str]] = {}
    for sample_id, query_id in cursor.execute("SELECT sample_id, query_id FROM sample_queries").fetchall():
        queries_of.setdefault(sample_id, set()).add(query_id)
    fitting = [
        queries for queries in queries_of.values() if queries.issuperset(drawn) and queries.issubset(frame)
    ]
    smallest = min(fitting, key=lambda queries: len(queries), default=set(frame))
    return set(frame).difference(smallest)


def _refuse_by_choice(release: FrozenRelease, drawn: Collection[str], which: str, or_else: str) -> None:
    """Stop where queries lack people's grades and neither the draw nor the split says why."""
    missing = set(drawn).difference(row["query_id"] for row in release.rows("queries"))
    if missing:
        raise RefusedError(
            f"{len(missing):,} of the {pluralize(len(drawn), 'query', 'queries')} {which} have no grade of "
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
