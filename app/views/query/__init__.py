"""Query: the page about one query of the project.

The names of queries in the tables of other pages link to this page.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from app.acts import Acts, FormState, submit_button
from app.app_page import AppPage
from app.components.links import QUERY_PAGE
from app.context import project_store
from app.send_documents import show_send_form
from app.views.query import candidates
from curation.core.digests import digest
from curation.core.text import pluralize
from curation.ingest.filters import describe_filter
from curation.ingest.importers.nuggets import parse_nugget_lines, split_nugget_texts, write_nuggets
from curation.labeling.written_answers.proposals import describe_reviews
from curation.operations.query_documents import (
    EVALUATED,
    QueryDocuments,
    list_sealing_releases,
    read_documents,
)
from curation.operations.query_facts import EditedTexts, QueryFacts, edit_texts
from curation.people.annotators import REVIEWERS
from curation.people.seal_access import unseal
from curation.retrieval import RUN_PREFIX
from curation.store import Annotator, Store

NO_QUERY = "The address names no query. Open a query from a table on another page."
NUGGET_TITLES = ("Nuggets, vital", "Nuggets, okay")
SOURCES = {"traffic": "from the log", "imported": "imported", "written": "written", "synthetic": "synthetic"}
SEALED = "A release seals this query's judgments: grades, votes and decisions are hidden."
NUGGET_FIELDS = (
    "Facts that a good answer must have, one per line",
    "Facts that are good to have, one per line",
)
PROPOSALS_HELP = "A model proposed these lines. Change or delete lines, then save the rest as nuggets."


def show(annotator: Annotator) -> None:
    query_id = st.query_params.get("id", "")
    if not query_id:
        st.info(NO_QUERY)
        return
    store, acts = project_store(), Acts(annotator)
    unseal_form = acts.form(f"open {query_id} {list_sealing_releases(store, query_id)}")
    access = unseal_form.result if annotator.role == "lead" else None
    query_documents = read_documents(store, query_id, annotator, access)
    _show_facts(query_documents.facts)
    _show_counts(query_documents)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if annotator.role == "lead":
            _edit_words(store, acts, query_documents.facts)
            _offer_sending(store, acts, query_documents)
        if not query_documents.is_sealed:
            _edit_nuggets(store, acts, query_documents.facts)
    if query_documents.is_sealed:
        _offer_unsealing(store, annotator, acts, unseal_form, query_id)
    candidates.show(query_documents, st.query_params.get("document", ""))


PAGE = AppPage(98, "Query", QUERY_PAGE, REVIEWERS, show, shows_title=False, listed=None)


def _show_facts(facts: QueryFacts) -> None:
    """Show the query with its information need, its source and its notes."""
    count = (
        "number of searches unknown"
        if facts.searches is None
        else f"asked {pluralize(facts.searches, 'time')}"
    )
    items = [SOURCES[facts.source], count, facts.stratum, facts.part and f"part {facts.part}", facts.query_id]
    tags = "".join(f"<span>{escape(tag)}</span>" for tag in facts.tags)
    needs = "\n".join(filter(None, (facts.texts.need, describe_filter(facts.filter))))
    need_html = f'<p class="gs-need" dir="auto">{escape(needs)}</p>' if needs else ""
    st.html(
        f'<header class="gs-about"><h1 class="gs-query" dir="auto">{escape(facts.text)}</h1>{need_html}'
        f'<p class="gs-quiet">{escape("  ·  ".join(filter(None, items)))}{tags}</p></header>'
    )
    if facts.retired:
        ui.note(f"Retired: {facts.retired}")
    for title, lines in (
        ("Notes", facts.texts.note.splitlines()),
        ("Reference answers", facts.answers),
        *zip(NUGGET_TITLES, split_nugget_texts(facts.nuggets), strict=True),
    ):
        if lines:
            ui.remarks(title, *lines)
    if facts.proposals is not None:
        ui.note(*describe_reviews([facts.proposals]))


def _show_counts(query_documents: QueryDocuments) -> None:
    """Show how many documents, judged documents, relevant documents and disputes a query has."""
    open_documents = query_documents.open
    counts = {"Documents": f"{len(query_documents.documents):,}"}
    if not query_documents.is_sealed:
        disputed = sum(pair.how == "disputed" for pair in query_documents.judged)
        counts |= {
            "Judged": f"{len(query_documents.judged):,} of {len(open_documents):,}",
            "Relevant": f"{query_documents.relevant:,}",
            "Disputed": f"{disputed:,}",
        }
    ui.metrics(counts)
    if withheld := len(query_documents.documents) - len(open_documents):
        ui.note(
            f"{pluralize(withheld, 'document is', 'documents are')} among your own items. Other people's "
            "judgments of your items appear here once you have graded all your items."
        )


def _edit_words(store: Store, acts: Acts, facts: QueryFacts) -> None:
    """Offer a form that changes a query's information need and notes."""
    form = acts.form(f"edit {facts.query_id}")
    with st.popover("Need and notes"), st.form(form.key, border=False):
        need = st.text_area(
            "Information need of the person who asks",
            facts.texts.need,
            key=f"need {form.key}",
            help="Annotators read this below the query. Releases include it.",
        )
        note = st.text_area(
            "Team notes", facts.texts.note, key=f"note {form.key}", help="Annotators do not see these notes."
        )
        if submit_button("Save", "edit query", form, digest(*facts.texts)):
            new_texts = EditedTexts(need, note)
            acts.do(form, lambda: edit_texts(store, facts.query_id, facts.texts, new_texts, acts.by))


def _edit_nuggets(store: Store, acts: Acts, facts: QueryFacts) -> None:
    """Offer a form that changes a query's nuggets, including nuggets proposed by a model."""
    form, proposals = acts.form(f"nuggets {facts.query_id}"), facts.proposals
    waiting = proposals.proposed if proposals is not None and not proposals.is_reviewed else ()
    saved_texts = {nugget.text for nugget in facts.nuggets}
    nuggets = [*facts.nuggets, *(nugget for nugget in waiting if nugget.text not in saved_texts)]
    call_id, count = proposals and proposals.call_id, f", {len(waiting):,} proposed" if waiting else ""
    with st.popover(f"Nuggets{count}"), st.form(form.key, border=False):
        if proposals is not None and waiting:
            ui.note(f"{proposals.model} proposed {pluralize(len(waiting), 'line')}. {PROPOSALS_HELP}")
        vital, okay = (
            st.text_area(label, "\n".join(lines), key=f"{label} {form.key} {call_id}")
            for label, lines in zip(NUGGET_FIELDS, split_nugget_texts(nuggets), strict=True)
        )
        if submit_button("Save nuggets", "write nuggets", form, digest(*map(str, (facts.nuggets, call_id)))):
            written = parse_nugget_lines(vital, okay)
            acts.do(form, lambda: write_nuggets(store, facts.query_id, written, acts.by, call_id))


def _offer_unsealing(store: Store, annotator: Annotator, acts: Acts, form: FormState, query_id: str) -> None:
    """Show the reason why no grades are shown; a lead can open them by giving a reason."""
    st.info(SEALED, icon=":material/lock:")
    if annotator.role != "lead":
        return
    with st.form(form.key, border=False, width=560):
        reason = st.text_input("Reason for opening the grades", help="Logged with your name and the time.")
        submitted = st.form_submit_button("Open the grades", key=f"open {form.key}")
    if submitted and not reason.strip():
        ui.note("Enter a reason first.")
    elif submitted:
        acts.do(form, lambda: unseal(store, f"read the query {query_id}", reason, acts.by, {query_id}))


def _offer_sending(store: Store, acts: Acts, query_documents: QueryDocuments) -> None:
    """Offer to send documents to a new round; the unjudged documents are preselected."""
    facts, unjudged = query_documents.facts, []
    if not query_documents.is_sealed:
        unjudged = [item.document.document_id for item in query_documents.open if item.pair is None]
    titles, run_names = {}, {}
    for candidate in query_documents.documents:
        document_id = candidate.document.document_id
        titles[document_id] = candidate.document.title or "Untitled"
        for name, rank in candidate.ranks.items():
            if rank is not None:
                is_upload = name.endswith(EVALUATED)
                run_names[document_id] = f"{RUN_PREFIX}{name.removesuffix(EVALUATED)}" if is_upload else name
    show_send_form(store, acts, facts.query_id, facts.text, titles, unjudged, run_names)
