"""What a lead does on the page of a query: edit need and notes, open sealed grades, send documents on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, count

import streamlit as st

from app import ui
from app.acts import Acts, FormState
from app.page_context import submit
from curation.core.text import amount, digest
from curation.ingest.importers.answers.nuggets import lines_of, nuggets_of_lines, write_nuggets
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.rounds import list_rounds
from curation.operations.query_facts.documents import EVALUATED, QueryDocuments
from curation.operations.query_facts.facts import QueryFacts, QueryWords, edit_words
from curation.people.annotators import able_to_judge, usual_names
from curation.people.seal_access import unseal
from curation.retrieval import RUN_PREFIX
from curation.store import Annotator, Cursor, Store

SEALED = "A release seals what people said of this query: grades, votes and decisions are not shown."
NUGGETS = ("Facts that a good answer must have, one a line", "Facts that are good to have, one a line")
PROPOSED = "None is a nugget yet: change or drop lines, then save what you keep."
LONGEST_NAME = 40
"""Characters of a query in the name of its round."""


def edit(store: Store, acts: Acts, facts: QueryFacts) -> None:
    """The need and the notes, to be changed."""
    form = acts.form(f"edit {facts.query_id}")
    with st.popover("Need and notes"), st.form(form.key, border=False):
        need = st.text_area(
            "What the person behind it needs",
            facts.words.need,
            key=f"need {form.key}",
            help="Annotators read it below the query, and releases have it.",
        )
        note = st.text_area(
            "Notes of the team", facts.words.note, key=f"note {form.key}", help="Annotators do not see them."
        )
        if submit("Save", "edit query", form, digest(*facts.words)):
            now = QueryWords(need, note)
            acts.do(form, lambda: edit_words(store, facts.query_id, facts.words, now, acts.by))


def write(store: Store, acts: Acts, facts: QueryFacts) -> None:
    """The nuggets, to be written or changed."""
    form, found = acts.form(f"nuggets {facts.query_id}"), facts.proposals
    waiting = found.proposed if found is not None and found.written is None else ()
    held = {nugget.text for nugget in facts.nuggets}
    shown = [*facts.nuggets, *(one for one in waiting if one.text not in held)]
    call_id, count = found and found.call_id, f", {len(waiting):,} proposed" if waiting else ""
    with st.popover(f"Nuggets{count}"), st.form(form.key, border=False):
        if found is not None and waiting:
            ui.quiet(f"{found.model} proposed {amount(len(waiting), 'line')}. {PROPOSED}")
        vital, okay = (
            st.text_area(label, "\n".join(lines), key=f"{label} {form.key} {call_id}")
            for label, lines in zip(NUGGETS, lines_of(shown), strict=True)
        )
        if submit("Save nuggets", "write nuggets", form, digest(*map(str, (facts.nuggets, call_id)))):
            written = nuggets_of_lines(vital, okay)
            acts.do(form, lambda: write_nuggets(store, facts.query_id, written, acts.by, call_id))


def ask_why(store: Store, annotator: Annotator, acts: Acts, form: FormState, query_id: str) -> None:
    """Why the grades are not there; a lead opens them with a reason."""
    st.info(SEALED, icon=":material/lock:")
    if annotator.role != "lead":
        return
    with st.form(form.key, border=False, width=560):
        reason = st.text_input("Reason for opening the grades", help="Logged with your name and the time.")
        asked = st.form_submit_button("Open the grades", key=f"open {form.key}")
    if asked and not reason.strip():
        ui.quiet("Write the reason first.")
    elif asked:
        acts.do(form, lambda: unseal(store, f"read the query {query_id}", reason, acts.by, {query_id}))


def send(store: Store, acts: Acts, query_documents: QueryDocuments) -> None:
    """Chosen documents to a new round."""
    titles = {
        document.document.document_id: document.document.title or "Untitled"
        for document in query_documents.documents
    }
    unjudged = [one.document.document_id for one in query_documents.open if one.pair is None]
    wanted, facts = [] if query_documents.is_sealed else unjudged, query_documents.facts
    systems = {
        one.document.document_id: f"{RUN_PREFIX}{name.removesuffix(EVALUATED)}"
        for one in query_documents.documents
        for name in one.ranks
        if name.endswith(EVALUATED)
    }
    send_documents(store, acts, facts.query_id, facts.text, titles, wanted, systems)


def send_documents(
    store: Store,
    acts: Acts,
    query_id: str,
    text: str,
    titles: Mapping[str, str],
    wanted: Sequence[str],
    systems: Mapping[str, str],
) -> None:
    """Chosen documents of a query to a new round.

    Parameters
    ----------
    titles: of the documents to choose from, by id; `wanted` are chosen to begin with.
    systems: document id → the system that returned it, for documents that may be no candidates yet.
    """
    form = acts.form(f"send {query_id}")
    with store.reading() as cursor:
        people, proposed = able_to_judge(cursor), _free_name(cursor, text)
    names, usual = [person.name for person in people], usual_names(people)
    dialog = st.popover("Send to a round")
    if opened := form.result:  # inside: the popover stays open over the page
        with dialog:
            documents_of = amount(opened.candidates, "document")
            ui.confirmation(f"{opened.round} is open with {documents_of} of this query.")
    with dialog, st.form(form.key, border=False):
        documents = st.multiselect(
            "Documents",
            list(titles),
            default=wanted,
            format_func=lambda name: f"{titles[name]} ({name})",
            key=f"documents {form.key}",
        )
        name = st.text_input("Name of the round", proposed, key=f"round {form.key}")
        annotators = st.multiselect("Annotators", names, usual, key=f"annotators {form.key}")
        overlap = st.number_input(
            "Annotators for each document",
            *(1, max(1, len(names)), min(2, max(1, len(usual)))),
            key=f"overlap {form.key}",
        )
        asked = st.form_submit_button("Open the round", type="primary", key=f"send {form.key}")
    if asked:
        pairs = {(query_id, document): systems.get(document, "") for document in documents}
        open_over = partial(open_round, store, name.strip(), annotators, again=True, author=acts.by)
        acts.do(form, lambda: open_over(overlap=int(overlap), duplicates=0.0, pairs=pairs))


def _free_name(cursor: Cursor, query: str) -> str:
    """A name for a round over one query that no round has."""
    words, taken = " ".join(query.split()), {one.name for one in list_rounds(cursor)}
    name = f"Check {words}" if len(words) <= LONGEST_NAME else f"Check {words[: LONGEST_NAME - 1]}…"
    return next(one for one in chain([name], (f"{name} ({n})" for n in count(2))) if one not in taken)
