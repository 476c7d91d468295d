"""Pairs that were judged twice: by an earlier campaign and again, with what changed in between.

A pair of a plan has its old grade from the plan. Its new grade is what the project's rule makes of the votes
in the plan's own round, or a reviewer's decision since the plan, up to the next plan with the pair. Nothing
here depends on which queries are in play, on the corpus or on the guide of today.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from curation.guides.difference import Grades, reworded_grades
from curation.guides.guide import guide_by_hash, guide_lines
from curation.labeling.consensus.consensus import compute_consensus
from curation.labeling.consensus.votes import Votes, read_rule
from curation.labeling.rounds.rounds import find_round
from curation.relabeling.judged_pairs import BETWEEN, Pair, query_tags, query_types
from curation.relabeling.stored_plans import PlanPair, StoredPlan, plan_pairs
from curation.store import Cursor

DOCUMENT, GUIDE = "document changed", "words of its grade changed"
NOT_ASKED = "not asked: its document or its query had left when the round was opened"
NOT_WHOLE = "not judged by everybody who was asked"
NO_GRADE_BEFORE = "newly graded: no grade before, disputed or unjudgeable"
NO_GRADE_NOW = "no grade now: nobody could tell"
DISPUTED, DISPUTED_NOW = "disputed", "disputed: its new votes disagree"
SEALED = "a release seals it: a round of guesses would read its grade"
OPEN = (NOT_WHOLE, DISPUTED_NOW, NO_GRADE_NOW)
"""Why a pair has no new grade, though it is still one of the set."""
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


class RegradedPair(NamedTuple):
    """A pair that was to be judged again.

    Attributes
    ----------
    part: of the plan; '' for campaigns that no plan made.
    probability: of being in the plan; None in plans of earlier versions outside of the random part.
    before, after: both grades; None without one.
    why: why the grades cannot be compared; '' where they can.
    changes: what was not the same: `DOCUMENT`, `GUIDE`.
    """

    query_id: str
    document_id: str
    type: str
    tags: tuple[str, ...]
    part: str
    probability: float | None
    before: int | None
    after: int | None
    why: str = ""
    changes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return not self.why and self.before != self.after


class QuarterResult(NamedTuple):
    """What became of the pairs of a plan, or of two campaigns.

    Attributes
    ----------
    name: the plan's quarter, or both rounds.
    population: graded pairs that the plan could choose from; 0 for campaigns.
    pairs: all that were to be judged again, by ids.
    """

    name: str
    population: int
    pairs: tuple[RegradedPair, ...]

    @property
    def comparable(self) -> list[RegradedPair]:
        """Pairs with both grades."""
        return [pair for pair in self.pairs if not pair.why]

    @property
    def open(self) -> list[RegradedPair]:
        """Pairs with an old grade that have no new one: not judged, disputed, or nobody could tell."""
        return [pair for pair in self.pairs if pair.why in OPEN and pair.before is not None]

    @property
    def left_out(self) -> dict[str, int]:
        """Why pairs cannot be compared → how many."""
        return dict(sorted(Counter(pair.why for pair in self.pairs if pair.why).items()))

    @property
    def random_of_rest(self) -> bool:
        """Whether the random part was drawn from what the plan did not choose by itself."""
        return all(pair.probability is not None for pair in self.pairs)


class _Judged(NamedTuple):
    """What is true of a pair at a moment."""

    grade: int | None
    how: str
    content_hash: str | None
    guide_hash: str | None


def read_plan_result(cursor: Cursor, row: StoredPlan) -> QuarterResult:
    """The pairs of a plan as they are now; for a closed quarter see `fixed_reports.report_inputs`."""
    shown, now = _shown(cursor, row.plan_id), _of_round(cursor, row.round_id or "", decided=True)
    tags, changes = query_tags(cursor), _changes(cursor)
    pairs = []
    for pair in plan_pairs(cursor, row.plan_id):
        key = (pair.query_id, pair.document_id)
        old = _Judged(pair.grade, pair.how, pair.content_hash, pair.guide_hash)
        new = now.get(key, old._replace(grade=None))
        why = _why_left_out(pair, shown, new)
        kind = (pair.stratum.rpartition(BETWEEN)[0], tags.get(pair.query_id, ()))
        after = None if why in (NOT_ASKED, NOT_WHOLE) else new.grade
        drawn = (pair.part, pair.inclusion_probability)
        pairs.append(RegradedPair(*key, *kind, *drawn, pair.grade, after, why, changes(old, new)))
    graded = row.report.get("graded_pairs") or round(row.report["pairs"] / row.report["fraction_of_pairs"])
    return QuarterResult(row.quarter, graded, tuple(pairs))


def read_campaigns(cursor: Cursor, first: str, second: str, closed: Collection[str] = ()) -> QuarterResult:
    """The pairs that two rounds judged, each by the project's rule on its own votes.

    Parameters
    ----------
    closed: queries whose pairs are counted as left out, without a grade.

    Raises
    ------
    NotFoundError: there is no such round.
    """
    ids = [find_round(cursor, name).round_id for name in (first, second)]
    before, after = (_of_round(cursor, round_id) for round_id in ids)
    types, tags, changes = query_types(cursor), query_tags(cursor), _changes(cursor)
    pairs = []
    for key in sorted(before.keys() & after.keys()):
        old, new = before[key], after[key]
        kind = (types.get(key[0], "unknown"), tags.get(key[0], ()))
        if key[0] in closed:
            pairs.append(RegradedPair(*key, *kind, "", None, None, None, SEALED))
        else:
            why = _no_comparison(old.grade, new)
            pairs.append(RegradedPair(*key, *kind, "", None, old.grade, new.grade, why, changes(old, new)))
    return QuarterResult(f"{first} → {second}", 0, tuple(pairs))


def _why_left_out(pair: PlanPair, shown: Mapping[Pair, bool], new: _Judged) -> str:
    """Why a pair of a plan cannot be compared; '' where it can."""
    whole = shown.get((pair.query_id, pair.document_id))
    if not whole:
        return NOT_ASKED if whole is None and shown else NOT_WHOLE
    return _no_comparison(pair.grade, new)


def _no_comparison(old: int | None, new: _Judged) -> str:
    if new.grade is None:
        return DISPUTED_NOW if new.how == DISPUTED else NO_GRADE_NOW
    return NO_GRADE_BEFORE if old is None else ""


def _changes(cursor: Cursor) -> Callable[[_Judged, _Judged], tuple[str, ...]]:
    """What is known not to be the same; of guides, the words of the old grade."""
    lines = guide_lines(cursor)
    reworded: dict[str, dict[str, Grades]] = {}

    def changes(old: _Judged, new: _Judged) -> tuple[str, ...]:
        names = []
        if None not in (old.content_hash, new.content_hash) and old.content_hash != new.content_hash:
            names.append(DOCUMENT)
        if old.guide_hash in lines and new.guide_hash is not None and new.guide_hash in lines:
            if new.guide_hash not in reworded:
                guide = guide_by_hash(cursor, new.guide_hash)
                reworded[new.guide_hash] = reworded_grades(cursor, lines, guide)
            if old.grade in reworded[new.guide_hash][old.guide_hash or ""]:
                names.append(GUIDE)
        return tuple(names)

    return changes


def _shown(cursor: Cursor, plan_id: str) -> dict[Pair, bool]:
    """The pairs that people were asked about, and whether all of them have judged."""
    sql = "SELECT query_id, document_id, whole FROM relabeling_progress WHERE plan_id = ?"
    return {(row[0], row[1]): row[2] for row in cursor.execute(sql, [plan_id]).fetchall()}


def _of_round(cursor: Cursor, round_id: str, decided: bool = False) -> dict[Pair, _Judged]:
    """Each pair of a round with the grade that the project's rule makes of its votes in that round.

    Parameters
    ----------
    decided: with the decisions since the plan of the round, before the next plan of the pair.
    """
    votes = cursor.sql(_VOTES, params={"round": round_id, "decided": decided}).to_arrow_table()
    columns = (votes[name].to_pylist() for name in ("query_id", "document_id", "content_hash", "guide_hash"))
    read: dict[Pair, tuple[str, str]] = {}
    for query_id, document_id, *hashes in zip(*columns, strict=True):
        read.setdefault((query_id, document_id), (hashes[0], hashes[1]))
    graded = {
        (pair.query_id, pair.document_id): pair
        for pair in compute_consensus(Votes(read_rule(cursor), votes)).pairs
    }
    return {key: _Judged(graded[key].grade, graded[key].how, *about) for key, about in read.items()}
