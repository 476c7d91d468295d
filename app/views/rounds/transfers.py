"""Rounds, transfers: hand somebody's untouched work to others, or let others join and share it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import streamlit as st

from app import ui
from app.acts import Acts
from curation.core.text import amount
from curation.labeling.rounds.status import RoundStatus
from curation.labeling.transfers.extension import extend_round
from curation.labeling.transfers.reassignment import reassign
from curation.people.annotators import able_to_judge, usual_names
from curation.store import Store, utc_now

SOMEBODY = "Choose a person"
MANAGE = "manage"
"""The form state that all forms of this part share: each act brings new fields and buttons."""


class Managed(NamedTuple):
    """The last act of this session: the round, when, what was done, and whether the round is gone."""

    round: str
    at: datetime
    said: str
    deleted: bool = False

    @classmethod
    def now(cls, name: str, said: str) -> Managed:
        return cls(name, utc_now(), said)


def show_people(store: Store, status: RoundStatus, acts: Acts) -> None:
    with store.reading() as cursor:
        able = usual_names(able_to_judge(cursor))
    inside = [annotator.annotator for annotator in status.annotators]
    outside = [name for name in able if name not in inside]
    if status.kind != "pilot":
        _hand_over(store, status, acts, outside)
    _extend(store, status, acts, outside)


def _extend(store: Store, status: RoundStatus, acts: Acts, outside: list[str]) -> None:
    ui.heading("Extend")
    labeling = status.kind == "labeling"
    ui.quiet(
        "In a pilot, new members get the same pairs as everybody."
        if status.kind == "pilot"
        else "New members take unstarted items from the others until loads are equal."
    )
    if not (outside or labeling):
        ui.quiet("Every annotator is in this round.")
        return
    given = sum(annotator.presentations for annotator in status.annotators)
    form = acts.form(MANAGE)
    place = f"{form.key} {status.round} {given}"
    with st.form(f"extend {place}", width=640):
        joining = st.multiselect(
            "New members",
            outside,
            placeholder=SOMEBODY if outside else "every annotator is in it",
            disabled=not outside,
        )
        new = labeling and st.checkbox("Add the candidates that no round has shown yet")
        asked = st.form_submit_button("Extend", type="primary", key=f"extend button {place}")
    if not asked:
        return
    if not (joining or new):
        st.error("Choose new members, or tick the box.", icon=":material/error:")
        return

    def action() -> Managed:
        done = extend_round(store, status.round, joining, new, acts.by)
        stays = "".join(f" {count:,}: {why}." for why, count in done.left_out.items())
        added = amount(done.candidates, "candidate")
        said = f"{added} added; {amount(done.moved, 'pair is', 'pairs are')} with those who joined.{stays}"
        return Managed.now(status.round, said)

    acts.do(form, action)


def _hand_over(store: Store, status: RoundStatus, acts: Acts, outside: list[str]) -> None:
    people = [
        annotator.annotator for annotator in status.annotators if annotator.answered < annotator.presentations
    ]
    if not people:
        return
    ui.heading("Reassign unstarted items")
    from_ = st.selectbox(
        "Whose work", people, index=None, width=320, key=f"from {status.round}", placeholder=SOMEBODY
    )
    if from_ is None:
        return
    inside = [annotator.annotator for annotator in status.annotators if annotator.annotator != from_]
    form = acts.form(MANAGE)
    with st.form(f"hand over {form.key} {status.round} {from_}", width=640):
        to = st.multiselect("To", [*inside, *outside], default=inside)
        sure = st.checkbox(
            f"{ui.plain(from_)} loses the items that they have not started; the others keep them"
        )
        asked = st.form_submit_button("Reassign", type="primary")
    if not asked:
        return
    if not sure or not to:
        st.error("Choose who takes the items, and tick the box.", icon=":material/error:")
        return

    def action() -> Managed:
        moved = reassign(store, status.round, from_, to, acts.by)
        stays = "".join(f" {count:,} {why}." for why, count in moved.left_out.items())
        pairs = amount(moved.moved, f"pair of {from_} is", f"pairs of {from_} are")
        return Managed.now(status.round, f"{pairs} with others now.{stays}")

    acts.do(form, action)
