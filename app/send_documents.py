"""Forms that send pairs to a new judging round: a query's documents, or the missing top ten."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count

import streamlit as st

from app import ui
from app.acts import Acts, FormState
from curation.core.text import pluralize
from curation.evaluation.top_ten import TopTen
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import OpenedRound, open_round
from curation.labeling.rounds.rounds import list_rounds
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.store import Cursor, Store

MAX_NAME_LENGTH = 46
"""Maximum number of characters of the proposed name of a round."""


def show_send_form(
    store: Store,
    acts: Acts,
    query_id: str,
    text: str,
    titles: Mapping[str, str],
    preselected: Sequence[str],
    run_names: Mapping[str, str],
) -> None:
    """Show a form that asks which of a query's documents people should judge, and opens a round with them.

    Parameters
    ----------
    titles: document id → title of the documents to choose from.
    preselected: the ids of the documents that are chosen initially.
    run_names: document id → the run that returned the document, for documents that may be in no pool yet.
    """
    form = acts.form(f"send {query_id}")

    def ask_pairs() -> Mapping[tuple[str, str], str]:
        document_ids = st.multiselect(
            "Documents",
            list(titles),
            default=preselected,
            format_func=lambda document_id: f"{titles[document_id]} ({document_id})",
            key=f"documents {form.key}",
        )
        return {(query_id, document_id): run_names.get(document_id, "") for document_id in document_ids}

    _show_form(store, acts, form, "Send to a round", f"Check {text}", ask_pairs)


def show_missing_form(store: Store, acts: Acts, release: str, top_ten: TopTen) -> None:
    """Offer a round with the missing top ten of the evaluated systems, if few of these pairs have grades."""
    form = acts.form(f"send top ten of {release}")
    if top_ten.is_offered:
        ui.sentences(top_ten.sentence)
        label = f"Send {pluralize(len(top_ten.missing), 'missing pair')} to a round"
        _show_form(store, acts, form, label, f"Top ten of {release}", lambda: top_ten.missing)
    elif form.result:
        _confirm(form.result)


def _confirm(opened: OpenedRound) -> None:
    pairs, queries = pluralize(opened.candidates, "pair"), pluralize(opened.queries, "query", "queries")
    ui.confirmation(f"The round {opened.round} is open, with {pairs} of {queries}.")


def _show_form(
    store: Store,
    acts: Acts,
    form: FormState,
    label: str,
    text: str,
    ask_pairs: Callable[[], Mapping[tuple[str, str], str]],
) -> None:
    """Show a button with this label that unfolds a form for a new round; `text` is proposed as the round's
    name."""
    with store.reading() as cursor:
        people = list_eligible_annotators(cursor)
        proposed_name = _propose_name(cursor, text)
    names = [person.name for person in people]
    default_names = select_default_names(people)
    dialog = st.popover(label)
    if form.result:
        with dialog:  # it stays open over the page
            _confirm(form.result)
    with dialog, st.form(form.key, border=False):
        pairs = ask_pairs()
        name = st.text_input("Round name", proposed_name, key=f"round {form.key}")
        annotators = st.multiselect("Annotators", names, default_names, key=f"annotators {form.key}")
        limit = max(1, len(names))
        start = min(2, max(1, len(default_names)))
        overlap = st.number_input("Annotators for each document", 1, limit, start, key=f"overlap {form.key}")
        submitted = st.form_submit_button("Open the round", type="primary", key=f"send {form.key}")
    if submitted:
        request = RoundRequest(name.strip(), annotators, int(overlap), duplicates=0.0, again=True)
        acts.do(form, lambda: open_round(store, request, acts.by, pairs))


def _propose_name(cursor: Cursor, text: str) -> str:
    """Propose a name for a round that begins with this text; the name is not taken by an existing round."""
    existing_names = {round_row.name for round_row in list_rounds(cursor)}
    name = " ".join(text.split())
    name = name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"
    names = chain([name], (f"{name} ({number})" for number in count(2)))
    return next(name for name in names if name not in existing_names)
