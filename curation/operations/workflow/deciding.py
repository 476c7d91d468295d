"""Steps on grades: disputes that wait for a decision, and the parts that graded queries are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from curation.agreement.gate import GateCheck
from curation.core.text import amount
from curation.ingest.importers.queries import active_queries
from curation.labeling.consensus.consensus import settled
from curation.labeling.consensus.evidence import read_marks
from curation.labeling.consensus.second_opinions import awaited_opinions
from curation.labeling.consensus.votes import read_votes
from curation.operations.workflow.stage import Action, Stage
from curation.store import Cursor, get_setting


class SettledGrades(NamedTuple):
    """What became of the judgments.

    Attributes
    ----------
    judged, disputed, decided: pairs; of the disputed ones, `awaited` get one more opinion first.
    graded: queries in force with a grade; `outside` those that the current split has in no part.
    parts: part → queries in it; None without a split.
    """

    judged: int
    disputed: int
    awaited: int
    decided: int
    graded: int
    outside: int
    parts: Mapping[str, int] | None


def read_settled(cursor: Cursor) -> SettledGrades:
    """Read what became of them."""
    pairs, marks = settled(read_votes(cursor)).pairs, read_marks(cursor)
    waiting = awaited_opinions(cursor)
    disputed = [pair[:2] for pair in pairs if marks.is_disputed(pair)]
    active = {query.query_id for query in active_queries(cursor)}
    graded = {pair.query_id for pair in pairs if pair.grade is not None} & active
    split_id = get_setting(cursor, "split")
    rows = cursor.execute("SELECT part, query_id FROM split_assignments WHERE split_id = ?", [split_id])
    parts: dict[str, int] = {}
    for part, query_id in rows.fetchall():
        parts[part] = parts.get(part, 0) + 1
        graded.discard(query_id)
    return SettledGrades(
        judged=len(pairs),
        disputed=len(disputed),
        awaited=sum(pair in waiting for pair in disputed),
        decided=sum(pair.how == "adjudicated" for pair in pairs),
        graded=len({pair.query_id for pair in pairs if pair.grade is not None} & active),
        outside=len(graded),
        parts=dict(sorted(parts.items())) if split_id is not None else None,
    )


def adjudicate_step(settled_grades: SettledGrades, alpha: GateCheck | None) -> Stage:
    """Disputes that wait."""
    agreement = Action("See agreement", "agreement", "goldgrade agreement")
    if not settled_grades.judged:
        waits = "A reviewer settles the pairs on which annotators differ."
        return Stage("adjudicate", "not begun", waits, agreement)
    decided = f"{amount(settled_grades.decided, 'pair')} decided" if settled_grades.decided else ""
    waiting = settled_grades.disputed - settled_grades.awaited
    if waiting:
        more = (
            f"; {settled_grades.awaited:,} more get another opinion first" if settled_grades.awaited else ""
        )
        more += f"; {decided} so far." if decided else "."
        line = f"{amount(waiting, 'pair waits', 'pairs wait')} for a decision{more}"
        label = f"Decide {amount(waiting, 'pair')}"
        decide = Action(label, "adjudicate", "goldgrade adjudicate list")
        return Stage("adjudicate", "needs attention", line, decide, alpha=alpha)
    if settled_grades.awaited:
        asked = f"{amount(settled_grades.awaited, 'pair gets', 'pairs get')} another opinion first."
        return Stage("adjudicate", "at work", asked, agreement, alpha=alpha)
    line = f"No pair is disputed; {decided}." if decided else "No pair is disputed."
    return Stage("adjudicate", "done", line, agreement, alpha=alpha)


def split_step(settled_grades: SettledGrades, is_settled: bool) -> Stage:
    """The parts of the split.

    Parameters
    ----------
    is_settled: whether people are done judging and deciding.
    """
    command = "goldgrade split --dev 0.7 --test 0.3"
    split = Action("Split the queries", "releases", command, {"stage": "Split"})
    if settled_grades.parts is None:
        has = amount(settled_grades.graded, "graded query is", "graded queries are")
        line = (
            f"{has} in no part yet."
            if settled_grades.graded
            else "Splits queries into dev and test without leakage."
        )
        return Stage("split", "not begun", line, split)
    sizes = " · ".join(f"{part} {count:,}" for part, count in settled_grades.parts.items())
    line = f"{sizes} queries."
    if settled_grades.outside:
        line += f" {amount(settled_grades.outside, 'graded query is', 'graded queries are')} in no part."
        if is_settled:
            again = Action("Split again", "releases", command, {"stage": "Split"})
            return Stage("split", "needs attention", line, again)
    return Stage(
        "split",
        "done",
        line,
        Action("See the parts", "releases", "goldgrade certificate", {"stage": "Split"}),
    )
