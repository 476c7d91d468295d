"""Rounds, Open a round: the form for a new round over candidates that no round has shown yet."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import ui
from app.acts import Acts, submit_button
from app.components.forms import Form
from app.next_stage import show_missing_stage
from curation.core.errors import CurationError
from curation.core.text import pluralize
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import OpenedRound, explain_no_round, open_round
from curation.labeling.rounds.grading_cost import describe_round_cost, read_pace
from curation.labeling.rounds.rounds import list_rounds
from curation.labeling.rounds.status import read_round_status
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.store import Annotator, Store

COLUMNS = ["Annotator", "Presentations", "Blind duplicates"]
_PLANNED = "(planned)"
"""The name that stands for the name of a round before the form asks for it."""


def show(store: Store, acts: Acts, annotator: Annotator) -> None:
    with store.reading() as cursor:
        people = list_eligible_annotators(cursor)
        rounds = [row for row in list_rounds(cursor) if row.kind != "imported"]
        problem = explain_no_round(cursor)
    left, right = st.columns([2, 3], gap="large")
    with left, st.container(border=True):
        start = RoundRequest(annotators=select_default_names(people))
        choices = {"annotators": [person.name for person in people]}
        _ask_round(store, acts, Form(RoundRequest, start, choices=choices), f"after {len(rounds)}", problem)
    with right:
        if names := [row.name for row in rounds if row.kind != "practice"]:
            _show_newest_round(store, acts, names[-1])
        else:
            st.info("No round is open yet.")
            show_missing_stage(store, annotator, "pool")


def _ask_round(store: Store, acts: Acts, fields: Form[RoundRequest], key: str, problem: str | None) -> None:
    """Ask for a round outside a form, so that its cost follows each choice."""
    fields.ask("annotators", "overlap", "lists")
    with st.expander("More options"):
        fields.ask_rest()
    request = fields.request(name=_PLANNED)
    if problem is None:
        _show_cost(store, acts, request)
    with st.form("round", border=False):
        name = st.text_input("Round name", placeholder="such as 2026-q4").strip()
        form = acts.form("round")
        submitted = submit_button("Open the round", "open round", form, key, problem is not None)
        if problem is not None:
            ui.note(problem)
    request = replace(request, name=name)
    if submitted and not (
        form.result and form.result[0] == request
    ):  # a repeated click opens no second round
        acts.do(form, lambda: (request, open_round(store, request, acts.by)))


def _show_cost(store: Store, acts: Acts, request: RoundRequest) -> None:
    """Show each person's items and time, or the reason why the round cannot be opened."""
    try:
        planned = open_round(store, request, acts.by, dry_run=True)
    except CurationError as error:
        ui.sentences(error.found)
        return
    with store.reading() as cursor:
        pace = read_pace(cursor)
    rows = [(name, items, pace.describe_time(items)) for name, items in planned.per_annotator.items()]
    ui.table("Before you open", ["Annotator", "Items", "Time"], rows)
    ui.sentences(describe_round_cost(pace, planned))


def _show_newest_round(store: Store, acts: Acts, name: str) -> None:
    status = read_round_status(store, name)
    rows = [(person.annotator, person.presentations, person.duplicates) for person in status.annotators]
    ui.table(f"Round {name}: {pluralize(status.candidates, 'candidate')}", COLUMNS, rows)
    last: tuple[RoundRequest, OpenedRound] | None = acts.form("round").result
    if last is not None and last[1].round == name:
        ui.sentences(*last[1].sentences, "Annotators find their items under Label.")
