"""Rounds, Open a round: the form for a new round over candidates that no round has shown yet."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import ui
from app.acts import Acts, submit_button
from app.components.forms import Form
from app.next_stage import show_action_link, show_missing_stage
from curation.core.errors import CurationError
from curation.core.text import pluralize
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import DEEPER_POOL, OpenedRound, explain_no_round, open_round
from curation.labeling.rounds.grading_cost import describe_round_cost, read_pace
from curation.labeling.rounds.rounds import list_rounds
from curation.operations.workflow.stage import Action
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.store import Annotator, Store


def show(store: Store, acts: Acts, annotator: Annotator) -> None:
    with store.reading() as cursor:
        people = list_eligible_annotators(cursor)
        rounds = [row for row in list_rounds(cursor) if row.kind != "imported"]
        problem = explain_no_round(cursor)
    last: tuple[RoundRequest, OpenedRound] | None = acts.form("round").result
    if last is not None and any(row.name == last[1].round for row in rounds):
        ui.success("\n".join([*last[1].sentences, "Annotators find their items under Label."]))
        show_action_link(Action("See the progress", "rounds", "", {"part": "Progress"}))
    if problem is not None:
        st.info(ui.literal(problem))
        if not rounds:
            show_missing_stage(store, annotator, "pool")
        return
    start = RoundRequest(annotators=select_default_names(people))
    choices = {"annotators": [person.name for person in people]}
    _ask_round(store, acts, Form(RoundRequest, start, choices=choices), len(rounds))


def _ask_round(store: Store, acts: Acts, fields: Form[RoundRequest], count: int) -> None:
    """Ask for a round outside a form, so that its cost follows each choice.

    Parameters
    ----------
    count: the number of the project's rounds.
    """
    warning_area = st.container()
    left, right = st.columns([2, 3], gap="large")
    with left, st.container(border=True):
        name = st.text_input("Round name", f"round {count + 1}", key=f"round name {count}").strip()
        fields.ask("annotators", "overlap")
        with st.expander("More options"):
            fields.ask_rest()
        request = fields.request(name=name)
        can_open = _show_cost(store, acts, request, right, warning_area)
        with st.form("round", border=False):
            form = acts.form("round")
            submitted = submit_button("Open the round", "open round", form, f"after {count}", not can_open)
    # a repeated click opens no second round
    if submitted and not (form.result and form.result[0] == request):
        acts.do(form, lambda: (request, open_round(store, request, acts.by)))


def _show_cost(
    store: Store, acts: Acts, request: RoundRequest, table_area: DeltaGenerator, warning_area: DeltaGenerator
) -> bool:
    """Show each person's items and time, or the reason why the round cannot be opened; return whether it
    can."""
    try:
        planned = open_round(store, request, acts.by, dry_run=True)
    except CurationError as error:
        with warning_area:
            ui.warnings([error.found])
            if DEEPER_POOL in error.found:
                show_action_link(Action("Build a deeper pool", "queries", "", {"part": "Pool"}))
        return False
    with store.reading() as cursor:
        pace = read_pace(cursor)
    rows = [(name, pace.describe_time(items), items) for name, items in planned.per_annotator.items()]
    with table_area:
        ui.table("Work of each annotator", ["Annotator", "Time", "Items"], rows)
    ui.sentences(describe_round_cost(pace, planned))
    if request.again:
        ui.note(f"Shows {pluralize(planned.candidates, 'pair')}, also those already judged or in a round.")
    return True
