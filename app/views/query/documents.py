"""The documents of a query: who found them, their grades and votes; one of them to read."""

from __future__ import annotations

from html import escape

import streamlit as st
from markupsafe import Markup

from app import ui
from app.components.links import query_link
from app.context import image_hosts
from curation.core.text import amount, percent
from curation.guides.guide import Guide
from curation.labeling.consensus.consensus import PairConsensus
from curation.labeling.consensus.rule import MAJORITY, MEDIAN
from curation.labeling.presentation.drawing import ReadDocument, draw
from curation.operations.query_facts.documents import QueryDocument, QueryDocuments

UNTITLED = "Untitled document"
WITHHELD = (
    "This document is among your own items, and you have still items to grade. Others' grades would not "
    "leave you blind."
)
NO_GRADE = {"disputed": "In dispute", "unjudgeable": "Nobody could tell"}
OLDER = "The votes are about an older text of this document. Nobody has judged the text of now."


def show(query_documents: QueryDocuments, chosen: str) -> None:
    """The list at the left, the chosen document, or the first, at the right."""
    if not query_documents.documents:
        st.info("No system has proposed a document for this query yet. Build a pool.")
        return
    shown = next(
        (document for document in query_documents.documents if document.document.document_id == chosen),
        query_documents.documents[0],
    )
    left, right = st.columns([6, 5], gap="large")
    with left, st.container(key="candidates"):
        said = ([], []) if query_documents.is_sealed else (["Grade"], ["Votes"])
        columns = [*said[0], "Document", *query_documents.systems, *said[1]]
        rows = [_row(query_documents, document) for document in query_documents.documents]
        ui.table("Best ranked first", columns, rows, current=query_documents.documents.index(shown))
    with right, st.container(key="reading"):
        _read(query_documents, shown)


def _row(query_documents: QueryDocuments, query_document: QueryDocument) -> tuple[object, ...]:
    document, pair = query_document.document, query_document.pair
    title = query_link(document.title or UNTITLED, query_documents.facts.query_id, document.document_id)
    marks = [query_document.mark, "decided" if pair is not None and pair.how == "adjudicated" else ""]
    below = f"<small>{escape(', '.join(filter(None, marks)))}</small>" if any(marks) else ""
    cells = (Markup(title + below), *(query_document.ranks.get(name) for name in query_documents.systems))  # noqa: S704  escaped
    if query_documents.is_sealed:
        return cells
    votes = [] if pair is None else [grade for grade, number in pair.votes.items() for _ in range(number)]
    unsure = ["?"] * pair.cannot_tell if pair is not None else []
    return Markup(_chip(query_document, query_documents.guide)), *cells, " ".join(map(str, [*votes, *unsure]))  # noqa: S704


def _chip(query_document: QueryDocument, guide: Guide) -> str:
    """The grade in its colour of the guide, or why there is none."""
    if query_document.is_withheld:
        return '<span class="gs-grade">yours</span>'
    if query_document.pair is None:
        return '<span class="gs-grade">–</span>'
    if query_document.pair.grade is None:
        return f'<span class="gs-grade">{escape(query_document.pair.how)}</span>'
    colour = next(
        (step.colour for step in guide.scale if step.value == query_document.pair.grade), "currentColor"
    )
    return f'<span class="gs-grade" style="--grade: {escape(colour)}">{query_document.pair.grade}</span>'


def _read(query_documents: QueryDocuments, query_document: QueryDocument) -> None:
    names = {step.value: f"{step.value} {step.name}" for step in query_documents.guide.scale}
    if query_document.is_withheld:
        ui.quiet(WITHHELD)
    elif query_document.pair is not None:
        ui.heading(_verdict(query_document.pair, names))
        if query_document.pair.changed:
            ui.quiet(OLDER)
    if query_document.decision is not None:
        words = (
            names.get(query_document.decision.grade or 0)
            if query_document.decision.grade is not None
            else "no grade can be given"
        )
        outdated = (
            ""
            if query_document.pair and query_document.pair.how == "adjudicated"
            else " It does not count any more."
        )
        ui.said(
            f"{query_document.decision.reviewer} decided: {words}",
            f"{query_document.decision.reason}{outdated}",
        )
    for vote in query_document.votes:
        grade = "Cannot tell" if vote.grade is None else names.get(vote.grade, str(vote.grade))
        marks = [*(["flagged"] if vote.flagged else []), *([] if vote.same_text else ["about an older text"])]
        ui.said(f"{vote.annotator or 'Somebody'}: {grade}", *filter(None, (vote.words, ", ".join(marks))))
    ranks = [f"{name} {rank}" if rank else name for name, rank in query_document.ranks.items()]
    document, template = query_document.document, query_documents.guide.presentation
    shown = draw(
        ReadDocument.of(document),
        query_documents.facts.text,
        template,
        longest=None,
        image_hosts=image_hosts(),
    )
    facts = (document.document_id, *ranks, shown.url, shown.published)
    ui.document(shown.title, shown.passage, facts, shown.facts)


def _verdict(pair: PairConsensus, names: dict[int, str]) -> str:
    if pair.grade is None:
        return NO_GRADE.get(pair.how, "Decided: no grade can be given")
    grade, votes = names.get(pair.grade, str(pair.grade)), sum(pair.votes.values())
    if pair.how == "disputed":
        return f"In dispute: until it is decided, {grade} counts"
    if pair.how == "adjudicated":
        return f"{grade}, decided"
    if pair.how in (MAJORITY, MEDIAN, "single"):
        return f"{grade}, {pair.votes.get(pair.grade, 0):,} of {amount(votes, 'vote')}"
    return f"{grade}, {percent(pair.confidence)} probable by {amount(votes, 'vote')}"
