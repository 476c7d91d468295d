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


def show(found: QueryDocuments, chosen: str) -> None:
    """The list at the left, the chosen document, or the first, at the right."""
    if not found.documents:
        st.info("No system has proposed a document for this query yet. Build a pool.")
        return
    shown = next((one for one in found.documents if one.document.document_id == chosen), found.documents[0])
    left, right = st.columns([6, 5], gap="large")
    with left, st.container(key="candidates"):
        said = ([], []) if found.is_sealed else (["Grade"], ["Votes"])
        columns = [*said[0], "Document", *found.systems, *said[1]]
        rows = [_row(found, one) for one in found.documents]
        ui.table("Best ranked first", columns, rows, current=found.documents.index(shown))
    with right, st.container(key="reading"):
        _read(found, shown)


def _row(found: QueryDocuments, one: QueryDocument) -> tuple[object, ...]:
    document, pair = one.document, one.pair
    title = query_link(document.title or UNTITLED, found.facts.query_id, document.document_id)
    marks = [one.mark, "decided" if pair is not None and pair.how == "adjudicated" else ""]
    below = f"<small>{escape(', '.join(filter(None, marks)))}</small>" if any(marks) else ""
    cells = (Markup(title + below), *(one.ranks.get(name) for name in found.systems))  # noqa: S704  escaped
    if found.is_sealed:
        return cells
    votes = [] if pair is None else [grade for grade, number in pair.votes.items() for _ in range(number)]
    unsure = ["?"] * pair.cannot_tell if pair is not None else []
    return Markup(_chip(one, found.guide)), *cells, " ".join(map(str, [*votes, *unsure]))  # noqa: S704


def _chip(one: QueryDocument, guide: Guide) -> str:
    """The grade in its colour of the guide, or why there is none."""
    if one.is_withheld:
        return '<span class="gs-grade">yours</span>'
    if one.pair is None:
        return '<span class="gs-grade">–</span>'
    if one.pair.grade is None:
        return f'<span class="gs-grade">{escape(one.pair.how)}</span>'
    colour = next((step.colour for step in guide.scale if step.value == one.pair.grade), "currentColor")
    return f'<span class="gs-grade" style="--grade: {escape(colour)}">{one.pair.grade}</span>'


def _read(found: QueryDocuments, one: QueryDocument) -> None:
    names = {step.value: f"{step.value} {step.name}" for step in found.guide.scale}
    if one.is_withheld:
        ui.quiet(WITHHELD)
    elif one.pair is not None:
        ui.heading(_verdict(one.pair, names))
        if one.pair.changed:
            ui.quiet(OLDER)
    if one.decision is not None:
        words = (
            names.get(one.decision.grade or 0) if one.decision.grade is not None else "no grade can be given"
        )
        outdated = "" if one.pair and one.pair.how == "adjudicated" else " It does not count any more."
        ui.said(f"{one.decision.reviewer} decided: {words}", f"{one.decision.reason}{outdated}")
    for vote in one.votes:
        grade = "Cannot tell" if vote.grade is None else names.get(vote.grade, str(vote.grade))
        marks = [*(["flagged"] if vote.flagged else []), *([] if vote.same_text else ["about an older text"])]
        ui.said(f"{vote.annotator or 'Somebody'}: {grade}", *filter(None, (vote.words, ", ".join(marks))))
    ranks = [f"{name} {rank}" if rank else name for name, rank in one.ranks.items()]
    document, template = one.document, found.guide.presentation
    shown = draw(
        ReadDocument.of(document), found.facts.text, template, longest=None, image_hosts=image_hosts()
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
