"""Adjudicate: the reviewer settles the pairs on which annotators disagree, without seeing who they are."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from app.workplace import project_store
from curation.errors import InputError
from curation.labeling.adjudication import Case, Dispute, decide, dispute, disputes
from curation.labeling.guides import Guide, current_guide
from curation.store.rows import Annotator

NO_GRADE = "No grade can be given"


def show(annotator: Annotator) -> None:
    store = project_store()
    open_pairs = disputes(store)
    if not open_pairs:
        st.info("No pair is disputed. When annotators disagree on one, it comes here.")
        return
    chosen = _next(open_pairs)
    case = dispute(store, chosen.query_id, chosen.document_id)
    with store.reading() as cursor:
        guide = current_guide(cursor)
    ui.query(chosen.query, case.information_need)
    left, right = st.columns([3, 2], gap="large")
    with left:
        ui.document(chosen.title, case.body, (case.published, case.url))
    with right:
        st.caption(f"{len(open_pairs):,} disputed, the largest disagreement first")
        _opinions(case, guide)
        _decision(chosen, guide, annotator)


def _next(open_pairs: list[Dispute]) -> Dispute:
    """The first pair that was not put off in this session; when all were, they come round again."""
    skipped: list[tuple[str, str]] = st.session_state.setdefault("skipped", [])
    left = [pair for pair in open_pairs if (pair.query_id, pair.document_id) not in skipped]
    if not left:
        skipped.clear()
    return (left or open_pairs)[0]


def _opinions(case: Case, guide: Guide) -> None:
    lines = []
    for opinion in case.dispute.opinions:
        said = "Cannot tell" if opinion.grade is None else ui.grade(guide, opinion.grade)
        words = ": ".join(filter(None, (opinion.reason, opinion.note)))
        lines.append(f'<div class="gs-opinion">{said}<span dir="auto">{escape(words)}</span></div>')
    st.html("".join(lines))


def _decision(chosen: Dispute, guide: Guide, annotator: Annotator) -> None:
    key = f"{chosen.query_id}\n{chosen.document_id}"
    names = {step.value: f"{step.value} {step.name}" for step in guide.scale}
    with st.form(f"decide {key}", border=False):
        value = st.radio(
            "Your decision",
            [*reversed(guide.values), None],
            index=None,
            format_func=lambda grade: NO_GRADE if grade is None else names[grade],
        )
        reason = st.text_area("Reason", height=90, placeholder="One sentence, kept with the decision")
        with st.container(horizontal=True):
            decided = st.form_submit_button("Decide", type="primary")
            later = st.form_submit_button("Later", help="Come back to this pair after the others")
    if later:
        st.session_state.skipped = [*st.session_state.skipped, (chosen.query_id, chosen.document_id)]
        st.rerun()
    if decided:
        try:
            decide(project_store(), chosen.query_id, chosen.document_id, value, reason, annotator.name)
        except InputError as error:
            ui.problem(error)
        else:
            st.rerun()
