"""Pairs that were judged twice: by an earlier campaign and again, with what changed in between.

A pair of a plan has its old grade from the plan. Its new grade is what the project's rule makes of the votes
in the plan's own round, or a reviewer's decision since the plan, up to the next plan with the pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from curation.guides.guide import guide_lines
from curation.labeling.rounds.rounds import find_round
from curation.relabeling.plan.plan import PlanPair
from curation.relabeling.plan.stored import PlanRow, find_plan, list_plans, plan_pairs
from curation.relabeling.staleness.calendar import JudgedPair, Pair, Quarter, read_pairs
from curation.releases.freeze.relabeled import ANNOTATORS, DOCUMENT, GUIDE
from curation.settling.consensus import settled
from curation.settling.votes import Votes, read_rule
from curation.store import Cursor

NOT_WHOLE = "not judged by everybody who was asked"
NO_GRADE_BEFORE = "newly graded: no grade before, disputed or unjudgeable"
NO_GRADE_NOW = "no grade now: nobody could tell"
DISPUTED, DISPUTED_NOW = "disputed", "disputed: its new votes disagree"
OTHER_TEXT = "its grade now is about another text than the re-labeling showed"
RETIRED = "its query was retired, or its document left the corpus, since"
SEALED = "a release seals it: a round of guesses would read its grade"
OPEN = (NOT_WHOLE, DISPUTED_NOW, NO_GRADE_NOW)
"""Why a pair has no new grade, though it is still one of the set."""


TRAFFIC = "traffic moved"
"""A cause that a plan knows: the share of its query's searches moved since the pair was judged."""


class RegradedPair(NamedTuple):
    """A pair with both grades.

    Attributes
    ----------
    part: of the plan; '' for campaigns that no plan made.
    probability: of being in the random part; None for the others.
    causes: all that was not the same, in the order of `CAUSES`, without 'none'.
    """

    query_id: str
    document_id: str
    type: str
    tags: tuple[str, ...]
    part: str
    probability: float | None
    before: int
    after: int
    causes: tuple[str, ...]

    @property
    def changed(self) -> bool:
        return self.before != self.after


class NewVote(NamedTuple):
    """A new grade of one person, of a pair with an old grade; `quarter`: the plan's, or the round."""

    quarter: str
    query_id: str
    document_id: str
    annotator: str
    before: int
    after: int
    causes: tuple[str, ...]


class Regraded(NamedTuple):
    """The pairs of a re-labeling, by ids.

    Attributes
    ----------
    open: pairs with an old grade that have no new one: not judged, disputed, or nobody could tell. Their
        `after` is the old grade.
    planned, judged: pairs that were to be judged again, and those that everybody who was asked has judged.
    left_out: reason → number. votes: of all up to this one.
    year: the re-labelings of the last four quarters that have pairs, without votes; this one is the last.
    """

    pairs: tuple[RegradedPair, ...]
    open: tuple[RegradedPair, ...]
    planned: int
    judged: int
    left_out: dict[str, int]
    votes: tuple[NewVote, ...]
    year: tuple[Regraded, ...] = ()


class _Judged(NamedTuple):
    """What is true of a pair at a moment."""

    grade: int | None
    how: str
    content_hash: str | None
    guide_hash: str | None
    annotators: frozenset[str]


def read_regraded(cursor: Cursor, plan: str | None = None) -> Regraded:
    """The pairs of a plan, by default of the newest one.

    Raises
    ------
    NotFoundError: there is no such plan.
    """
    row = find_plan(cursor, plan)
    judged, lines, first = read_pairs(cursor), guide_lines(cursor), Quarter.named(row.quarter).before(3).name
    plans = [one for one in list_plans(cursor) if one.round_id and first <= one.quarter < row.quarter]
    *year, found = (_of_plan(cursor, one, judged, lines) for one in (*plans, row))
    counted = tuple(one for one in (*year, found) if one.pairs)
    return found._replace(votes=_plan_votes(cursor, row.quarter), year=counted)


def _of_plan(
    cursor: Cursor, row: PlanRow, judged: Sequence[JudgedPair], lines: Mapping[str, str]
) -> Regraded:
    """The pairs of a plan, without votes."""
    asked, planned = _asked(cursor, row.plan_id), plan_pairs(cursor, row.plan_id)
    now, read = _of_round(cursor, row.round_id or "", decided=True), _read_later(cursor, row, judged)
    kinds = {one.pair: (one.type, one.tags) for one in judged}
    found: dict[bool, list[RegradedPair]] = {True: [], False: []}
    left_out: Counter[str] = Counter()
    for pair in planned:
        key = (pair.query_id, pair.document_id)
        new, kind = now.get(key, _before(pair)), kinds.get(key, (pair.stratum.rpartition(" · ")[0], ()))
        gone = key not in read or (bool(asked) and key not in asked)
        why = RETIRED if gone else _why_left_out(pair, asked.get(key), new, read[key])
        left_out[why] += 1
        if pair.grade is not None and why in ("", *OPEN):
            after = pair.grade if why or new.grade is None else new.grade
            causes = _causes(_before(pair), new, lines)
            drawn = (pair.part, pair.inclusion_probability)
            found[why in OPEN].append(RegradedPair(*key, *kind, *drawn, pair.grade, after, causes))
    return Regraded(
        tuple(found[False]),
        tuple(found[True]),
        len(planned),
        sum(map(bool, asked.values())),
        {why: count for why, count in left_out.items() if why},
        (),
    )


def read_campaigns(cursor: Cursor, first: str, second: str, closed: Collection[str] = ()) -> Regraded:
    """The pairs that two rounds judged, each by the project's rule on its own votes.

    Parameters
    ----------
    closed: queries whose pairs are counted as left out, and nowhere else.

    Raises
    ------
    NotFoundError: there is no such round.
    """
    ids = [find_round(cursor, name).round_id for name in (first, second)]
    before, after = (_of_round(cursor, round_id) for round_id in ids)
    kinds = {one.pair: (one.type, one.tags) for one in read_pairs(cursor)}
    lines = guide_lines(cursor)
    found, left_out = [], Counter[str]()
    sealed = [key for key in before.keys() & after.keys() if key[0] in closed]
    before = {key: old for key, old in before.items() if key[0] not in closed}
    both = sorted(before.keys() & after.keys())
    for key in both:
        old, new = before[key], after[key]
        if old.grade is None or new.grade is None:
            left_out[_no_comparison(old.grade, new)] += 1
        else:
            kind, tags = kinds.get(key, ("unknown", ()))
            found.append(
                RegradedPair(*key, kind, tags, "", None, old.grade, new.grade, _causes(old, new, lines))
            )
    left_out |= {SEALED: len(sealed)} if sealed else {}
    votes = tuple(_new_votes(cursor, second, ids[1], before))
    return Regraded(tuple(found), (), len(both), len(both), dict(left_out), votes)


def _why_left_out(pair: PlanPair, shown: list[str] | None, new: _Judged, read: str | None) -> str:
    """Why a pair of a plan cannot be compared; '' where it can. `read`: the text of its grade now."""
    if not shown:
        return NOT_WHOLE
    if read == pair.content_hash and read not in (None, *shown):  # the old text came back
        return OTHER_TEXT
    return _no_comparison(pair.grade, new)


def _no_comparison(old: int | None, new: _Judged) -> str:
    if new.grade is None:
        return DISPUTED_NOW if new.how == DISPUTED else NO_GRADE_NOW
    return NO_GRADE_BEFORE if old is None else ""


def _plan_votes(cursor: Cursor, quarter: str) -> tuple[NewVote, ...]:
    """The new votes on pairs of all plans that were opened up to a quarter."""
    opened = [row for row in list_plans(cursor) if row.round_id and row.quarter <= quarter]
    moved = {(row.quarter, query) for row in opened for query in row.report.get("moved", ())}
    found: list[NewVote] = []
    for row in sorted(opened, key=lambda row: row.quarter):
        pairs = plan_pairs(cursor, row.plan_id)
        new = {  # traffic that had moved when the pair was judged last is no cause any more
            pair[:2]
            for pair in pairs
            if (row.quarter, pair.query_id) in moved and (pair.judged, pair.query_id) not in moved
        }
        before = {pair[:2]: _before(pair) for pair in pairs}
        found += _new_votes(cursor, row.quarter, row.round_id or "", before, new)
    return tuple(found)


def _new_votes(
    cursor: Cursor, name: str, round_id: str, before: Mapping[Pair, _Judged], moved: Collection[Pair] = ()
) -> list[NewVote]:
    """The votes of a round on pairs that have an old grade."""
    judged, lines, found = _of_round(cursor, round_id), guide_lines(cursor), []
    values = {"round": round_id, "decided": False}
    for query_id, document_id, who, grade, *_ in cursor.execute(_VOTES, values).fetchall():
        old = before.get(key := (query_id, document_id))
        if old is not None and old.grade is not None and grade is not None:
            causes = _causes(old, judged[key], lines) + ((TRAFFIC,) if key in moved else ())
            found.append(NewVote(name, *key, who, old.grade, grade, causes))
    return found


def _causes(old: _Judged, new: _Judged, lines: Mapping[str, str]) -> tuple[str, ...]:
    """Everything that is known not to be the same; of guides, what their grades mean."""
    differ = (
        (DOCUMENT, old.content_hash, new.content_hash),
        (GUIDE, lines.get(old.guide_hash or ""), lines.get(new.guide_hash or "")),
        (ANNOTATORS, old.annotators or None, new.annotators or None),
    )
    return tuple(
        name for name, one, other in differ if one is not None and other is not None and one != other
    )


def _before(pair: PlanPair) -> _Judged:
    return _Judged(pair.grade, pair.how, pair.content_hash, pair.guide_hash, frozenset(pair.annotators))


def _asked(cursor: Cursor, plan_id: str) -> dict[Pair, list[str]]:
    """The pairs that people were asked about, with the versions of the document that they saw; none where
    somebody has still to judge.
    """
    sql = "SELECT query_id, document_id, if(whole, shown, []) FROM relabeling_progress WHERE plan_id = ?"
    return {(row[0], row[1]): row[2] for row in cursor.execute(sql, [plan_id]).fetchall()}


def _read_later(cursor: Cursor, row: PlanRow, judged: Iterable[JudgedPair]) -> dict[Pair, str | None]:
    """The text that the grade of each pair is about, in the next opened plan, else now."""
    found = {one.pair: one.read_hash for one in judged}
    opened = sorted((one.quarter, one.plan_id) for one in list_plans(cursor) if one.round_id is not None)
    later = [name for quarter, name in opened if row.round_id is not None and quarter > row.quarter]
    for name in reversed(later):
        found |= {(pair.query_id, pair.document_id): pair.content_hash for pair in plan_pairs(cursor, name)}
    return found


def _of_round(cursor: Cursor, round_id: str, decided: bool = False) -> dict[Pair, _Judged]:
    """Each pair of a round with the grade that the project's rule makes of its votes in that round.

    Parameters
    ----------
    decided: with the decisions since the plan of the round, before the next plan of the pair.
    """
    votes = cursor.sql(_VOTES, params={"round": round_id, "decided": decided}).to_arrow_table()
    rest: dict[Pair, tuple[str, str, set[str]]] = {}
    for query_id, document_id, who, _, version, guide, *_ in zip(*votes.to_pydict().values(), strict=True):
        rest.setdefault((query_id, document_id), (version, guide, set()))[2].add(who)
    found = {(one.query_id, one.document_id): one for one in settled(Votes(read_rule(cursor), votes)).pairs}
    return {
        key: _Judged(found[key].grade, found[key].how, version, guide, frozenset(people))
        for key, (version, guide, people) in rest.items()
    }


_VOTES = """
WITH votes AS (FROM current_judgments WHERE round_id = $round AND duplicate_of IS NULL),
decisions AS (
    SELECT query_id, document_id, d.grade, d.guide_hash, d.revision
    FROM relabeling_rounds b JOIN relabeling_pairs a USING (plan_id)
    JOIN adjudications d USING (query_id, document_id)
    WHERE $decided AND b.round_id = $round AND d.revision >= a.decisions
      AND (d.content_hash IS NULL OR (query_id, document_id, d.content_hash) IN (
            SELECT (query_id, document_id, content_hash) FROM votes))
      AND NOT EXISTS (
        FROM relabeling_rounds l JOIN relabeling_pairs n USING (plan_id)
        WHERE l.quarter > b.quarter AND n.query_id = a.query_id AND n.document_id = a.document_id
          AND n.decisions <= d.revision)
    QUALIFY row_number() OVER (PARTITION BY query_id, document_id ORDER BY d.revision DESC) = 1)
SELECT query_id, document_id, annotator, j.grade, content_hash,
       coalesce(d.guide_hash, j.guide_hash) AS guide_hash, d.revision IS NOT NULL AS decided,
       d.grade AS decision, false AS changed, NULL::INTEGER AS kept, false AS kept_changed, true AS wanted
FROM votes j LEFT JOIN decisions d USING (query_id, document_id)
ORDER BY ALL
"""
