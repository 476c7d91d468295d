"""Regraded pairs: pairs that were judged again, each with its old grade, its new grade, and what changed in
between.

The re-labeling plan holds the old grade of a pair. The new grade follows from the votes in the round of the
plan by the project's consensus rule, or from a reviewer's decision after the plan and before the next plan
with the pair. Old and new grades do not depend on retired queries, on today's corpus or on today's guide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import NamedTuple

from curation.guides.grade_meanings import GradeSet, find_reworded_grades, group_equivalent_guides
from curation.guides.guide import load_guide
from curation.labeling.consensus.consensus import compute_consensus
from curation.labeling.consensus.rule import read_rule
from curation.labeling.consensus.votes import Votes
from curation.labeling.rounds.rounds import find_round
from curation.queries.sampling.strata import STRATUM_SEPARATOR
from curation.relabeling.judged_pairs import Pair, read_query_tags, read_query_types
from curation.relabeling.stored_plans import StoredPlan, read_plan_pairs
from curation.store import Cursor

DOCUMENT, GUIDE = "document changed", "words of its grade changed"
NOT_ASKED = "not judged: its document or query had left when the round was opened"
NOT_WHOLE = "not judged by every annotator who got it"
NO_GRADE_BEFORE = "newly graded: it had no grade before (disputed or unjudgeable)"
NO_GRADE_NOW = "without a grade now: nobody could tell"
DISPUTED, DISPUTED_NOW = "disputed", "disputed: its new votes disagree"
SEALED = "sealed by a release"
UNJUDGED_REASONS = (NOT_ASKED, NOT_WHOLE)
OPEN = (NOT_WHOLE, DISPUTED_NOW, NO_GRADE_NOW)
"""Reasons why a re-labeled pair has no new grade."""
_ROUND_VOTES = """
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
    """A pair that was judged in two rounds, or again under a plan, with its old and its new grade.

    Attributes
    ----------
    part: the part of the plan; '' for two rounds without a plan.
    probability: the probability to be in the plan; None in plans of earlier versions outside the random part.
    before, after: the old and the new grade; None for a missing grade.
    why: the reason why the grades cannot be compared; '' if the grades can be compared.
    changes: `DOCUMENT` and `GUIDE`, if the document or the words of the old grade changed.
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
        """Return whether the old and the new grade of the pair are known and differ."""
        return not self.why and self.before != self.after


class QuarterResult(NamedTuple):
    """The pairs in a plan or in two rounds, with their old and new grades.

    Attributes
    ----------
    name: the quarter of the plan, or the names of both rounds.
    population: number of graded pairs from which the plan was chosen; 0 for two rounds.
    pairs: ordered by query id and document id.
    """

    name: str
    population: int
    pairs: tuple[RegradedPair, ...]

    @property
    def comparable(self) -> list[RegradedPair]:
        """Return the pairs with an old grade and a new grade."""
        return [pair for pair in self.pairs if not pair.why]

    @property
    def open(self) -> list[RegradedPair]:
        """Return the pairs with an old but no new grade: unjudged, disputed, or cannot-tell."""
        return [pair for pair in self.pairs if pair.why in OPEN and pair.before is not None]

    @property
    def left_out(self) -> dict[str, int]:
        """Return the number of pairs whose old and new grade cannot be compared, by reason."""
        return dict(sorted(Counter(pair.why for pair in self.pairs if pair.why).items()))

    @property
    def is_random_of_rest(self) -> bool:
        """Return whether the random part was drawn only from pairs that the plan did not choose by score."""
        return all(pair.probability is not None for pair in self.pairs)


class _GradeState(NamedTuple):
    """The grade of a pair at one moment, with the judged version of the document and the guide."""

    grade: int | None
    how: str
    content_hash: str | None
    guide_hash: str | None


def read_plan_result(cursor: Cursor, plan: StoredPlan) -> QuarterResult:
    """Read the pairs of a re-labeling plan with their old and their current grades.

    For a closed quarter, see `fixed_reports.read_report_inputs`.
    """
    sql = "SELECT query_id, document_id, whole FROM relabeling_progress WHERE plan_id = ?"
    is_judged = {
        (query_id, document_id): whole
        for query_id, document_id, whole in cursor.execute(sql, [plan.plan_id]).fetchall()
    }
    present = _compute_grades(cursor, plan.round_id or "", decided=True)
    tags = read_query_tags(cursor)
    find_changes = _make_change_finder(cursor)
    pairs = []
    for pair in read_plan_pairs(cursor, plan.plan_id):
        key = (pair.query_id, pair.document_id)
        old = _GradeState(pair.grade, pair.how, pair.content_hash, pair.guide_hash)
        new = present.get(key, old._replace(grade=None))
        judged = is_judged.get(key)
        why = _explain_incomparable(pair.grade, new)
        if not judged:
            why = NOT_ASKED if judged is None and is_judged else NOT_WHOLE
        pairs.append(
            RegradedPair(
                *key,
                type=pair.stratum.rpartition(STRATUM_SEPARATOR)[0],
                tags=tags.get(pair.query_id, ()),
                part=pair.part,
                probability=pair.inclusion_probability,
                before=pair.grade,
                after=new.grade if judged else None,
                why=why,
                changes=find_changes(old, new),
            )
        )
    report = plan.report
    population = report.get("graded_pairs", round(report["pairs"] / report["fraction_of_pairs"]))
    return QuarterResult(plan.quarter, population, tuple(pairs))


def read_two_rounds(cursor: Cursor, first: str, second: str, closed: Collection[str] = ()) -> QuarterResult:
    """Read the pairs judged in both of two rounds; each round's grades come from the project's consensus
    rule.

    Parameters
    ----------
    closed: queries whose pairs are left out, and counted without a grade.

    Raises
    ------
    NotFoundError: one of the rounds does not exist.
    """
    ids = [find_round(cursor, name).round_id for name in (first, second)]
    before, after = (_compute_grades(cursor, round_id) for round_id in ids)
    types, tags = read_query_types(cursor), read_query_tags(cursor)
    find_changes = _make_change_finder(cursor)
    pairs = []
    for key in sorted(before.keys() & after.keys()):
        query_id = key[0]
        kind = (types.get(query_id, "unknown"), tags.get(query_id, ()))
        pair = RegradedPair(*key, *kind, part="", probability=None, before=None, after=None, why=SEALED)
        if query_id not in closed:
            old, new = before[key], after[key]
            why = _explain_incomparable(old.grade, new)
            pair = pair._replace(before=old.grade, after=new.grade, why=why, changes=find_changes(old, new))
        pairs.append(pair)
    return QuarterResult(f"{first} → {second}", 0, tuple(pairs))


def _explain_incomparable(old: int | None, new: _GradeState) -> str:
    """Return the reason why the old and the new grade of a pair cannot be compared; '' if they can."""
    if new.grade is None:
        return DISPUTED_NOW if new.how == DISPUTED else NO_GRADE_NOW
    return NO_GRADE_BEFORE if old is None else ""


def _make_change_finder(cursor: Cursor) -> Callable[[_GradeState, _GradeState], tuple[str, ...]]:
    """Make a function that finds changes of a pair's document and of the guide's words for its old grade."""
    lines = group_equivalent_guides(cursor)
    reworded: dict[str, dict[str, GradeSet]] = {}

    def find_changes(old: _GradeState, new: _GradeState) -> tuple[str, ...]:
        names = []
        if None not in (old.content_hash, new.content_hash) and old.content_hash != new.content_hash:
            names.append(DOCUMENT)
        if old.guide_hash in lines and new.guide_hash is not None and new.guide_hash in lines:
            if new.guide_hash not in reworded:
                guide = load_guide(cursor, new.guide_hash)
                reworded[new.guide_hash] = find_reworded_grades(cursor, lines, guide)
            if old.grade in reworded[new.guide_hash][old.guide_hash or ""]:
                names.append(GUIDE)
        return tuple(names)

    return find_changes


def _compute_grades(cursor: Cursor, round_id: str, decided: bool = False) -> dict[Pair, _GradeState]:
    """Compute the grade of each pair of a round from the round's votes, by the project's consensus rule.

    Parameters
    ----------
    decided: include the decisions after the plan of the round and before the next plan of the pair.
    """
    votes = cursor.sql(_ROUND_VOTES, params={"round": round_id, "decided": decided}).to_arrow_table()
    columns = (votes[name].to_pylist() for name in ("query_id", "document_id", "content_hash", "guide_hash"))
    judged_hashes: dict[Pair, tuple[str, str]] = {}
    for query_id, document_id, *hashes in zip(*columns, strict=True):
        judged_hashes.setdefault((query_id, document_id), (hashes[0], hashes[1]))
    consensus = compute_consensus(Votes(read_rule(cursor), votes))
    graded = {(pair.query_id, pair.document_id): pair for pair in consensus.pairs}
    return {
        key: _GradeState(graded[key].grade, graded[key].how, *hashes) for key, hashes in judged_hashes.items()
    }
