"""Query, Documents: the list of a query's candidates, and one candidate with its votes and its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

import streamlit as st
from markupsafe import Markup

from app import ui
from app.components.links import query_link
from app.context import image_hosts
from curation.core.reports.tables import GradeCell
from curation.core.text import percent, pluralize
from curation.guides.guide import Guide
from curation.labeling.consensus.consensus import PairConsensus
from curation.labeling.consensus.rule import MAJORITY, MEDIAN
from curation.labeling.presentation.drawing import DocumentText, draw_document
from curation.operations.query_documents import QueryDocument, QueryDocuments

UNTITLED = "Untitled document"
WITHHELD_SENTENCE = (
    "This document is among your own items. Other people's grades appear here when you have graded all "
    "your items."
)
NO_GRADE = {"disputed": "In dispute", "unjudgeable": "Cannot tell"}
OLDER_TEXT = "The votes are for an older text of this document. Nobody has judged the current text yet."


def show(query_documents: QueryDocuments, document_id: str) -> None:
    """Show the list of documents, and next to it the document with this id, otherwise the first one."""
    candidates = query_documents.documents
    if not candidates:
        st.info("No system has proposed a document for this query yet. Build a pool.")
        return
    ids = [candidate.document.document_id for candidate in candidates]
    index = ids.index(document_id) if document_id in ids else 0
    chosen = candidates[index]
    left, right = st.columns([6, 5], gap="large")
    with left, st.container(key="candidates"):
        columns = ["Document", *map(_break_name, query_documents.systems)]
        rows = [_list_ranks(query_documents, candidate) for candidate in candidates]
        if not query_documents.is_sealed:
            columns = ["Grade", *columns, "Votes"]
            guide = query_documents.guide
            rows = [
                (_grade_cell(candidate, guide), *row, _list_votes(candidate))
                for candidate, row in zip(candidates, rows, strict=True)
            ]
        ui.table("Best ranked first", columns, rows, current=index)
    with right, st.container(key="reading"):
        names = {step.value: f"{step.value} {step.name}" for step in query_documents.guide.scale}
        _show_grade(chosen, names)
        _show_opinions(chosen, names)
        _show_text(query_documents, chosen)


def _break_name(system: str) -> Markup:
    """Return a system's name as HTML that can break after `_` and `:`, so that many systems fit."""
    return Markup(re.sub(r"([_:])", r"\1<wbr>", escape(system)))  # noqa: S704  escaped


def _list_ranks(query_documents: QueryDocuments, candidate: QueryDocument) -> tuple[object, ...]:
    """Return a candidate's table cells that reveal no grades: its title, and its rank in each system."""
    document, pair = candidate.document, candidate.pair
    title = query_link(document.title or UNTITLED, query_documents.facts.query_id, document.document_id)
    remarks = [candidate.mark, "decided" if pair is not None and pair.how == "adjudicated" else ""]
    remarks_html = f"<small>{escape(', '.join(filter(None, remarks)))}</small>" if any(remarks) else ""
    return Markup(title + remarks_html), *(candidate.ranks.get(name) for name in query_documents.systems)  # noqa: S704  escaped


def _grade_cell(candidate: QueryDocument, guide: Guide) -> GradeCell:
    """Return the grade in the colour that the guide gives it, or the reason why there is no grade."""
    if candidate.is_withheld:
        return GradeCell(None, "", "yours")
    if candidate.pair is None:
        return GradeCell(None, "", "–")
    grade = candidate.pair.grade
    colours = {step.value: step.colour for step in guide.scale}
    return GradeCell(grade, "" if grade is None else colours.get(grade, "currentColor"), candidate.pair.how)


def _list_votes(candidate: QueryDocument) -> str:
    pair = candidate.pair
    if pair is None:
        return ""
    grades = [str(grade) for grade, count in pair.votes.items() for _ in range(count)]
    return " ".join([*grades, *("?" for _ in range(pair.cannot_tell))])


def _show_grade(candidate: QueryDocument, names: Mapping[int, str]) -> None:
    """Show how a pair's grade was determined; `names` maps relevance grades to their names."""
    if candidate.is_withheld:
        ui.note(WITHHELD_SENTENCE)
    elif candidate.pair is not None:
        ui.heading(_describe_grade(candidate.pair, names))
        if candidate.pair.changed:
            ui.note(OLDER_TEXT)


def _show_opinions(candidate: QueryDocument, names: Mapping[int, str]) -> None:
    """Show the reviewer's decision and the annotators' votes."""
    if (decision := candidate.decision) is not None:
        grade = "no grade can be given" if decision.grade is None else _name_grade(decision.grade, names)
        in_force = candidate.pair is not None and candidate.pair.how == "adjudicated"
        reason = decision.reason if in_force else f"{decision.reason} The decision no longer counts."
        ui.remarks(f"{decision.reviewer} decided: {grade}", reason)
    for vote in candidate.votes:
        grade = "Cannot tell" if vote.grade is None else _name_grade(vote.grade, names)
        marks = {"flagged": vote.flagged, "about an older text": not vote.same_text}
        remarks = ", ".join(mark for mark, applies in marks.items() if applies)
        ui.remarks(f"{vote.annotator or 'Somebody'}: {grade}", *filter(None, (vote.words, remarks)))


def _show_text(documents: QueryDocuments, candidate: QueryDocument) -> None:
    """Show a document's whole text as annotators see it."""
    ranks = [f"{name} {rank}" if rank else name for name, rank in candidate.ranks.items()]
    document, template = DocumentText.of(candidate.document), documents.guide.presentation
    drawn = draw_document(document, documents.facts.text, template, longest=None, image_hosts=image_hosts())
    facts = (candidate.document.document_id, *ranks, drawn.url, drawn.published)
    ui.document(drawn.title, drawn.passage, facts, drawn.facts)


def _describe_grade(pair: PairConsensus, names: Mapping[int, str]) -> str:
    if pair.grade is None:
        return NO_GRADE.get(pair.how, "Decided: no grade can be given")
    grade, votes = _name_grade(pair.grade, names), pluralize(sum(pair.votes.values()), "vote")
    if pair.how == "disputed":
        return f"In dispute: until a decision, {grade} counts"
    if pair.how == "adjudicated":
        return f"{grade}, decided"
    if pair.how in (MAJORITY, MEDIAN, "single"):
        return f"{grade}, {pair.votes.get(pair.grade, 0):,} of {votes}"
    return f"{grade}, with a probability of {percent(pair.confidence)} from {votes}"


def _name_grade(grade: int, names: Mapping[int, str]) -> str:
    return names.get(grade, str(grade))
