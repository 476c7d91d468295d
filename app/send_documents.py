"""The form that sends documents of a query to a new judging round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count

import streamlit as st

from app import ui
from app.acts import Acts
from curation.core.text import pluralize
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.rounds import list_rounds
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.store import Cursor, Store

MAX_NAME_LENGTH = 40
"""Maximum number of characters of a query in the proposed name of its round."""


def show_send_form(
    store: Store,
    acts: Acts,
    query_id: str,
    text: str,
    titles: Mapping[str, str],
    preselected: Sequence[str],
    run_names: Mapping[str, str],
) -> None:
    """Show a form that asks which documents of a query people shall judge, and opens a round with them.

    Parameters
    ----------
    titles: document id → title of the documents to choose from.
    preselected: the ids of the documents that are chosen initially.
    run_names: document id → the run that returned the document, for documents that may be in no pool yet.
    """
    form = acts.form(f"send {query_id}")
    with store.reading() as cursor:
        people = list_eligible_annotators(cursor)
        proposed_name = _propose_name(cursor, text)
    names = [person.name for person in people]
    default_names = select_default_names(people)
    dialog = st.popover("Send to a round")
    opened_round = form.result
    if opened_round:  # in the popover, which stays open over the page
        with dialog:
            documents = pluralize(opened_round.candidates, "document")
            ui.confirmation(f"The round {opened_round.round} is open, with {documents} of this query.")
    with dialog, st.form(form.key, border=False):
        document_ids = st.multiselect(
            "Documents",
            list(titles),
            default=preselected,
            format_func=lambda document_id: f"{titles[document_id]} ({document_id})",
            key=f"documents {form.key}",
        )
        name = st.text_input("Name of the round", proposed_name, key=f"round {form.key}")
        annotators = st.multiselect("Annotators", names, default_names, key=f"annotators {form.key}")
        limit = max(1, len(names))
        start = min(2, max(1, len(default_names)))
        overlap = st.number_input("Annotators for each document", 1, limit, start, key=f"overlap {form.key}")
        submitted = st.form_submit_button("Open the round", type="primary", key=f"send {form.key}")
    if submitted:
        pairs = {(query_id, document_id): run_names.get(document_id, "") for document_id in document_ids}
        request = RoundRequest(name.strip(), annotators, int(overlap), duplicates=0.0, again=True)
        acts.do(form, lambda: open_round(store, request, acts.by, pairs))


def _propose_name(cursor: Cursor, query: str) -> str:
    """Propose a name for a round over one query; no existing round has this name."""
    existing_names = {round_row.name for round_row in list_rounds(cursor)}
    text = " ".join(query.split())
    name = f"Check {text}" if len(text) <= MAX_NAME_LENGTH else f"Check {text[: MAX_NAME_LENGTH - 1]}…"
    names = chain([name], (f"{name} ({number})" for number in count(2)))
    return next(name for name in names if name not in existing_names)
