"""Adjudicate: the reviewer settles the pairs on which annotators disagree, without seeing who they are."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from app.workplace import project_store
from curation.errors import CurationError, InputError
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
        ui.quiet(f"{len(open_pairs):,} disputed, the largest disagreement first")
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
        choice = st.radio(
            "Your decision",
            [*reversed(guide.values), NO_GRADE],  # None is what the radio says before anything is chosen
            index=None,
            format_func=lambda choice: names.get(choice, NO_GRADE),
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
            grade = _chosen(choice)
            decide(project_store(), chosen.query_id, chosen.document_id, grade, reason, annotator.name)
        except CurationError as error:
            ui.problem(error)
        else:
            st.rerun()


def _chosen(choice: object) -> int | None:
    """The grade that was chosen, or None for "no grade can be given"; having chosen nothing is neither."""
    if choice is None:
        raise InputError(f"Choose a grade, or “{NO_GRADE}”.")
    return choice if isinstance(choice, int) else None
