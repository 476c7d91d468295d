"""Rounds, Open a round: the form for a new round over candidates that no round has shown yet."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts, submit_button
from app.components.forms import Form
from app.next_stage import show_missing_stage
from curation.core.text import pluralize
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import OpenedRound, explain_no_round, open_round
from curation.labeling.rounds.rounds import list_rounds
from curation.labeling.rounds.status import read_round_status
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.store import Annotator, Store

COLUMNS = ["Annotator", "Presentations", "Blind duplicates"]


def show(store: Store, acts: Acts, annotator: Annotator) -> None:
    with store.reading() as cursor:
        people = list_eligible_annotators(cursor)
        rounds = [row for row in list_rounds(cursor) if row.kind != "imported"]
        problem = explain_no_round(cursor)
    left, right = st.columns([2, 3], gap="large")
    with left:
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
    with st.form("round"):
        name = st.text_input("Name of the round", placeholder="such as 2026-q4").strip()
        fields.ask("annotators", "overlap", "duplicates")
        with st.expander("More options"):
            fields.ask_rest("lists", "seed", "again")
        fields.ask("lists", "seed", "again")
        form = acts.form("round")
        submitted = submit_button("Open the round", "open round", form, key, problem is not None)
        if problem is not None:
            ui.note(problem)
    request = fields.request(name=name)
    if submitted and not (
        form.result and form.result[0] == request
    ):  # a repeated click opens no second round
        acts.do(form, lambda: (request, open_round(store, request, acts.by)))


def _show_newest_round(store: Store, acts: Acts, name: str) -> None:
    status = read_round_status(store, name)
    rows = [(person.annotator, person.presentations, person.duplicates) for person in status.annotators]
    ui.table(f"Round {name}: {pluralize(status.candidates, 'candidate')}", COLUMNS, rows)
    last: tuple[RoundRequest, OpenedRound] | None = acts.form("round").result
    if last is not None and last[1].round == name:
        ui.sentences(*last[1].sentences, "Annotators find the items under Label.")
