"""Rounds, opening one: over the candidates that no round has shown yet."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import ui
from app.acts import Acts
from app.next_step import missing_step
from app.page_context import submit
from curation.core.text import amount
from curation.labeling.rounds.create_round import PILOT_QUERIES, RoundOpened, open_round, why_no_round
from curation.labeling.rounds.layout import ASK_FROM
from curation.labeling.rounds.rounds import list_rounds
from curation.labeling.rounds.status import round_status
from curation.people.annotators import able_to_judge, usual_names
from curation.store import Annotator, Store

COLUMNS = ["Annotator", "Presentations", "Blind duplicates"]


def show(store: Store, acts: Acts, annotator: Annotator) -> None:
    with store.reading() as cursor:
        people = able_to_judge(cursor)
        rounds = [one for one in list_rounds(cursor) if one.kind != "imported"]
        reason = why_no_round(cursor)
    left, right = st.columns([2, 3], gap="large")
    names = [person.name for person in people]
    with left:
        usual = usual_names(people)
        _form(store, acts, names, usual, len(rounds), reason)
    with right:
        if judged := [one.name for one in rounds if one.kind != "practice"]:
            _newest(store, acts, judged[-1])
        else:
            st.info("No round is open yet.")
            missing_step(store, annotator, "pool")


def _form(
    store: Store, acts: Acts, names: list[str], usual: list[str], rounds: int, reason: str | None
) -> None:
    with st.form("round"):
        name = st.text_input("Name of the round", placeholder="such as 2026-q4")
        annotators = st.multiselect("Annotators", names, default=usual)
        overlap = st.number_input("Annotators for each candidate", min_value=1, value=2)
        duplicates = st.number_input(
            "Share of blind duplicates", 0.0, 0.5, 0.08, 0.01, help="As a share of each annotator's items."
        )
        with st.expander("More options"):
            known = st.number_input(
                "Share of control items",
                0.0,
                0.5,
                0.0,
                0.01,
                help="Pairs with a known grade, shown unmarked.",
            )
            pace = st.number_input(
                "Answers a day for each annotator",
                min_value=1,
                value=None,
                placeholder="not known",
                help="With it, blind duplicates come back on another day.",
            )
            ask_from = st.number_input(
                "Ask about queries with at least this many documents",
                min_value=0,
                value=ASK_FROM,
                help="After the last document of such a query, annotators say whether the corpus answers the "
                "query. 0 never asks.",
            )
            pilot = st.checkbox("Pilot: the same few queries for everyone; it does not count")
            few = st.number_input("Queries of a pilot", min_value=1, value=PILOT_QUERIES)
        lists = st.checkbox(
            "Show the documents of a query as a list",
            help="On one page, in random order, each graded by its key. Otherwise one document at a time.",
        )
        seed = st.number_input("Seed", value=0, step=1)
        again = st.checkbox("Show candidates again that were in a round or are judged")
        form = acts.form("round")
        asked = submit("Open the round", "open round", form, f"after {rounds}", reason is not None)
        if reason is not None:
            ui.quiet(reason)
    request: dict[str, Any] = {
        "name": name.strip(),
        "annotators": annotators,
        "overlap": int(overlap),
        "duplicates": float(duplicates),
        "seed": int(seed),
        "again": again,
        "kind": "pilot" if pilot else "labeling",
        "control_items": float(known),
        "per_day": None if pace is None else int(pace),
        "queries": int(few),
        "ask_from": int(ask_from),
        "lists": lists,
        "author": acts.by,
    }
    if asked and not (form.result and form.result[0] == request):  # else its round is shown already
        acts.do(form, lambda: (request, open_round(store, **request)))


def _newest(store: Store, acts: Acts, name: str) -> None:
    status = round_status(store, name)
    rows = [
        (annotator.annotator, annotator.presentations, annotator.duplicates)
        for annotator in status.annotators
    ]
    ui.table(f"Round {name}: {amount(status.candidates, 'candidate')}", COLUMNS, rows)
    here: tuple[object, RoundOpened] | None = acts.form("round").result
    if here is not None and here[1].round == name:
        ui.sentences("\n".join(_summary(here[1])))


def _summary(opened: RoundOpened) -> list[str]:
    lines = [f"Opened: {amount(opened.presentations, 'presentation')}. Annotators find them under Label."]
    if opened.shortest_distance is not None:
        lines.append(
            f"Blind duplicates come back after {amount(opened.shortest_distance, 'presentation')} or more "
            f"(median {opened.median_distance:g})."
        )
    return [*lines, *(f"Left out: {count:,} ({why})." for why, count in opened.left_out.items())]
