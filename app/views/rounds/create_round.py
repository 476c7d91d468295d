"""Rounds, Open a round: the form for a new round over the candidates that no round has shown yet."""

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
from curation.people.annotators import able_to_judge, usual_names
from curation.store import Annotator, Store

COLUMNS = ["Annotator", "Presentations", "Blind duplicates"]


def show(store: Store, acts: Acts, annotator: Annotator) -> None:
    with store.reading() as cursor:
        people = able_to_judge(cursor)
        rounds = [stored for stored in list_rounds(cursor) if stored.kind != "imported"]
        reason = explain_no_round(cursor)
    left, right = st.columns([2, 3], gap="large")
    with left:
        usual = RoundRequest(annotators=usual_names(people))
        choices = {"annotators": [person.name for person in people]}
        _form(store, acts, Form(RoundRequest, usual, choices=choices), len(rounds), reason)
    with right:
        if judged := [stored.name for stored in rounds if stored.kind != "practice"]:
            _newest(store, acts, judged[-1])
        else:
            st.info("No round is open yet.")
            show_missing_stage(store, annotator, "pool")


def _form(store: Store, acts: Acts, fields: Form[RoundRequest], rounds: int, reason: str | None) -> None:
    with st.form("round"):
        name = st.text_input("Name of the round", placeholder="such as 2026-q4").strip()
        fields.ask("annotators", "overlap", "duplicates")
        with st.expander("More options"):
            fields.ask_rest("lists", "seed", "again")
        fields.ask("lists", "seed", "again")
        form = acts.form("round")
        asked = submit_button("Open the round", "open round", form, f"after {rounds}", reason is not None)
        if reason is not None:
            ui.quiet(reason)
    request = fields.request(name=name)
    if asked and not (form.result and form.result[0] == request):  # else its round is shown already
        acts.do(form, lambda: (request, open_round(store, request, acts.by)))


def _newest(store: Store, acts: Acts, name: str) -> None:
    status = read_round_status(store, name)
    rows = [
        (annotator.annotator, annotator.presentations, annotator.duplicates)
        for annotator in status.annotators
    ]
    ui.table(f"Round {name}: {pluralize(status.candidates, 'candidate')}", COLUMNS, rows)
    last: tuple[RoundRequest, OpenedRound] | None = acts.form("round").result
    if last is not None and last[1].round == name:
        ui.sentences(*last[1].sentences, "Annotators find the items under Label.")
