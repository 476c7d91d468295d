"""The stages after judging that lead to a release: adjudicate and split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from curation.agreement.gate import GateCheck
from curation.core.text import pluralize
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.consensus.consensus import compute_consensus
from curation.labeling.consensus.marks import read_marks
from curation.labeling.consensus.second_opinions import read_awaited_opinions
from curation.labeling.consensus.votes import read_votes
from curation.operations.workflow.stage import Action, Stage
from curation.store import Cursor, get_setting


class GradeCounts(NamedTuple):
    """The judged pairs, their disputes, and the graded queries by part of the split.

    Attributes
    ----------
    judged, disputed, decided: numbers of pairs that are judged, disputed, and decided by a reviewer.
    awaiting_opinion: number of disputed pairs that wait for a second opinion.
    graded, unassigned: numbers of active queries with a grade, and of these queries in no part of the split.
    parts: number of queries in each part; None without a split.
    """

    judged: int
    disputed: int
    awaiting_opinion: int
    decided: int
    graded: int
    unassigned: int
    parts: Mapping[str, int] | None


def read_grade_counts(cursor: Cursor) -> GradeCounts:
    """Read the judged pairs, their disputes, and the parts of the split."""
    pairs = compute_consensus(read_votes(cursor)).pairs
    marks, waiting = read_marks(cursor), read_awaited_opinions(cursor)
    disputed = [pair[:2] for pair in pairs if marks.is_disputed(pair)]
    active = {query.query_id for query in read_active_queries(cursor)}
    graded = {pair.query_id for pair in pairs if pair.grade is not None} & active
    split_id = get_setting(cursor, "split")
    sql = "SELECT query_id, part FROM split_assignments WHERE split_id = ?"
    part_of = dict(cursor.execute(sql, [split_id]).fetchall())
    return GradeCounts(
        judged=len(pairs),
        disputed=len(disputed),
        awaiting_opinion=sum(pair in waiting for pair in disputed),
        decided=sum(pair.how == "adjudicated" for pair in pairs),
        graded=len(graded),
        unassigned=len(graded - part_of.keys()),
        parts=dict(sorted(Counter(part_of.values()).items())) if split_id is not None else None,
    )


def make_adjudicate_stage(grades: GradeCounts, alpha: GateCheck | None) -> Stage:
    """Make the adjudicate stage: the disputed pairs that wait for a decision."""
    agreement = Action("See agreement", "agreement", "goldgrade agreement")
    if not grades.judged:
        line = "Decide the pairs on which annotators differ."
        return Stage("adjudicate", "not begun", line, agreement)
    decided = f"{pluralize(grades.decided, 'pair')} decided" if grades.decided else ""
    waiting = grades.disputed - grades.awaiting_opinion
    if waiting:
        line = f"{pluralize(waiting, 'pair waits', 'pairs wait')} for a decision"
        if grades.awaiting_opinion:
            line += f"; {grades.awaiting_opinion:,} others first get one more opinion"
        line += f"; {decided} so far." if decided else "."
        decide = Action(f"Decide {pluralize(waiting, 'pair')}", "adjudicate", "goldgrade disputes")
        return Stage("adjudicate", "needs attention", line, decide, alpha=alpha)
    if grades.awaiting_opinion:
        line = (
            f"{pluralize(grades.awaiting_opinion, 'pair gets', 'pairs get')} one more opinion before a "
            "decision."
        )
        return Stage("adjudicate", "at work", line, agreement, alpha=alpha)
    line = f"No pair is disputed; {decided}." if decided else "No pair is disputed."
    return Stage("adjudicate", "done", line, agreement, alpha=alpha)


def make_split_stage(grades: GradeCounts, is_settled: bool) -> Stage:
    """Make the split stage: the parts, and the graded queries in no part.

    Parameters
    ----------
    is_settled: whether all pairs are judged and decided.
    """
    split = Action("Split the queries", "releases", "goldgrade split", {"stage": "Split"})
    if grades.parts is None:
        line = "Divide the queries into dev and test, without leakage."
        if grades.graded:
            line = f"{pluralize(grades.graded, 'graded query is', 'graded queries are')} in no part yet."
        return Stage("split", "not begun", line, split)
    sizes = " · ".join(f"{part} {count:,}" for part, count in grades.parts.items())
    line = f"{sizes} queries."
    if grades.unassigned:
        line += f" {pluralize(grades.unassigned, 'graded query is', 'graded queries are')} in no part."
        if is_settled:
            return Stage("split", "needs attention", line, replace(split, label="Split again"))
    see = Action("See the parts", "releases", "goldgrade split --certificate", {"stage": "Split"})
    return Stage("split", "done", line, see)
