"""Query: all that is known of one query. Rows of other pages that name a query open it."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from app.acts import Acts
from app.app_page import REVIEWERS, AppPage
from app.components.links import QUERY
from app.context import project_store
from app.views.query import acting, documents
from curation.core.text import amount
from curation.ingest.filters.query_filter import in_words
from curation.ingest.importers.answers.nuggets import lines_of
from curation.labeling.written_answers.proposals import share_sentences
from curation.operations.query_facts.documents import QueryDocuments, read_documents, sealed_by
from curation.operations.query_facts.history import history_table, query_history
from curation.store import Annotator

NONE = "No query is named. Open one from a row of another page that names it."
NUGGETS = ("Nuggets, vital", "Nuggets, okay")
PARTS = DOCUMENTS, RELEASES = ("Documents", "Releases")
SOURCES = {"traffic": "from the log", "imported": "imported", "written": "written", "synthetic": "by a model"}


def show(annotator: Annotator) -> None:
    query_id = st.query_params.get("id", "")
    if not query_id:
        st.info(NONE)
        return
    store, acts = project_store(), Acts(annotator)
    opening = acts.form(f"open {query_id} {sealed_by(store, query_id)}")
    door = opening.result if annotator.role == "lead" else None
    found = read_documents(store, query_id, annotator, door)
    _header(found)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        # a key of its own: Back to a page with the same key would lose that page's part
        shown = ui.part("Part of the page", PARTS, "shown")
        if annotator.role == "lead":
            acting.edit(store, acts, found.facts)
            acting.send(store, acts, found)
        if not found.is_sealed:
            acting.write(store, acts, found.facts)
    if found.is_sealed:
        acting.ask_why(store, annotator, acts, opening, query_id)
    if shown == RELEASES:
        history = query_history(store, query_id, annotator, door)
        ui.sentences("\n".join(history.changes) or "Fewer than two releases have this query.")
        if history.missing:
            ui.quiet(f"Without this query: {', '.join(history.missing)}.")
        ui.tables(history_table(history))
    else:
        documents.show(found, st.query_params.get("document", ""))


PAGE = AppPage(98, "Query", QUERY, REVIEWERS, show, shows_title=False, listed=None)


def _header(query_documents: QueryDocuments) -> None:
    facts = query_documents.facts
    asked = "searches not known" if facts.searches is None else f"asked {amount(facts.searches, 'time')}"
    about = [SOURCES[facts.source], asked, facts.stratum, facts.part and f"part {facts.part}", facts.query_id]
    labels = "".join(f"<span>{escape(tag)}</span>" for tag in facts.tags)
    needs = "\n".join(filter(None, (facts.words.need, in_words(facts.filter))))
    need = f'<p class="gs-need" dir="auto">{escape(needs)}</p>' if needs else ""
    st.html(
        f'<header class="gs-about"><h1 class="gs-query" dir="auto">{escape(facts.text)}</h1>{need}'
        f'<p class="gs-quiet">{escape("  ·  ".join(filter(None, about)))}{labels}</p></header>'
    )
    if facts.retired:
        ui.quiet(f"Retired: {facts.retired}")
    for title, lines in (
        ("Notes", facts.words.note.splitlines()),
        ("Reference answers", facts.answers),
        *zip(NUGGETS, lines_of(facts.nuggets), strict=True),
    ):
        if lines:
            ui.said(title, *lines)
    if facts.proposals is not None:
        ui.quiet(*share_sentences([facts.proposals]))
    with st.container(horizontal=True, gap="large"):
        shown = query_documents.open
        st.metric("Documents", f"{len(query_documents.documents):,}", width="content")
        if not query_documents.is_sealed:
            st.metric("Judged", f"{len(query_documents.judged):,} of {len(shown):,}", width="content")
            st.metric("Relevant", f"{query_documents.relevant:,}", width="content")
            disputed = sum(pair.how == "disputed" for pair in query_documents.judged)
            st.metric("Disputed", f"{disputed:,}", width="content")
    own = len(query_documents.documents) - len(shown)
    if own:
        ui.quiet(
            f"{amount(own, 'document is', 'documents are')} among your own items: what others said of them "
            "is shown, and counted, once you have nothing left to grade."
        )
