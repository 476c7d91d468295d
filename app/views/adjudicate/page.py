"""Adjudicate: the reviewer settles the pairs on which annotators disagree, without seeing who they are.

The pair on screen stays until this reviewer acts on it, whatever others do meanwhile; the page shows what
they did. The session holds the pair and how many decisions it had when it came on screen, so that nobody
overrides a decision that they have not read.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.keys import keys
from app.context import project_store
from app.page import JUDGE, REVIEWERS, AppPage
from app.views.adjudicate import decision, recent
from app.views.adjudicate.reviewing import Reviewing, reviewing
from curation.adjudication.adjudication import overtaken
from curation.adjudication.disputes import Case, about_versions, dispute, disputes
from curation.adjudication.second_opinions import awaited_opinions
from curation.errors import NotFoundError
from curation.guides.guide import Guide, current_guide
from curation.labeling.session.excerpts import mark, query_stems
from curation.store import Annotator, Store


def show(annotator: Annotator) -> None:
    acts, store, state = Acts(annotator), project_store(), reviewing()
    case = _current(store, annotator, state)
    if case is None:
        _nothing(state)
    else:
        with store.reading() as cursor:
            guide = current_guide(cursor)
        _case(case, guide, acts, state)
    recent.show(store, annotator)


OLDER_TEXT = " on an older text of the document, so it does not count"
OTHER_TEXT = "about another text of the document"

PAGE = AppPage(30, "Adjudicate", "adjudicate", REVIEWERS, show, group=JUDGE)


def _current(store: Store, annotator: Annotator, state: Reviewing) -> Case | None:
    """The pair on screen; when there is none, the first that was not put off in this session."""
    if state.at is None:
        state.pairs = [(one.query_id, one.document_id) for one in disputes(store)]
        with store.reading() as cursor:
            state.waiting = len(awaited_opinions(cursor))
        left = [pair for pair in state.pairs if pair not in state.skipped]
        if state.pairs and not left:  # all were put off: they come round again
            state.skipped = []
        state.at = next(iter(left or state.pairs), None)
        state.seen = None
    if state.at is None:
        return None
    try:
        case = dispute(store, *state.at)
    except NotFoundError:  # all who had judged it took their judgments back
        state.at = None
        return _current(store, annotator, state)
    if state.seen is None:
        state.seen = case.revision
    decision = case.dispute.decision
    if decision is not None and case.revision > state.seen and decision.reviewer == annotator.name:
        state.at = None  # decided by the same reviewer in another tab
        return _current(store, annotator, state)
    return case


def _nothing(state: Reviewing) -> None:
    keys("", "", sent=state.sent)
    if state.done:
        ui.confirmation(state.done)
    if state.waiting:
        st.info(
            f"No pair waits for you. Sent back, and here again with one more opinion: {state.waiting:,}. "
            "Reload the page to look again."
        )
    else:
        st.info("No pair is disputed. When annotators disagree on one, it comes here.")
    state.at = None


def _case(case: Case, guide: Guide, acts: Acts, state: Reviewing) -> None:
    item = case.dispute
    ui.query(item.query, case.information_need)
    left, right = st.columns([3, 2], gap="large")
    with left:
        stems = query_stems(item.query)
        ui.document(mark(item.title, stems), mark(case.body, stems), (case.published, case.url))
        _meanings(guide)
    with right:
        if state.done:
            ui.confirmation(state.done)
        ui.quiet(_where(len(state.pairs), state.waiting))
        for sentence in about_versions(item):
            ui.quiet(sentence)
        if item.decision is not None:
            if case.revision > (state.seen or 0):
                st.warning(ui.plain(overtaken(item.decision)), icon=":material/info:")
            else:
                _decided(case, guide)
        _opinions(case, guide)
        decision.show(case, guide, acts, state)


def _where(pairs: int, waiting: int) -> str:
    more = f"; waiting for one more opinion: {waiting:,}" if waiting else ""
    return f"{pairs:,} disputed, the weightiest first{more}"


def _meanings(guide: Guide) -> None:
    with st.expander("What the grades mean"):
        steps = "".join(
            f"<dt>{ui.grade(guide, step.value)}</dt><dd>{escape(step.definition)}</dd>"
            for step in reversed(guide.scale)
        )
        st.html(f'<dl class="gs-meaning" dir="auto">{steps}</dl>')


def _decided(case: Case, guide: Guide) -> None:
    decision = case.dispute.decision
    if decision is None:
        return
    said = "No grade can be given" if decision.grade is None else ui.grade(guide, decision.grade)
    about = OLDER_TEXT if case.dispute.decision_outdated else ""
    st.html(
        f'<div class="gs-opinion"><span class="gs-quiet">Decided by {escape(decision.reviewer)}{about}</span>'
        f'{said}<span dir="auto">{escape(decision.reason)}</span></div>'
    )


def _opinions(case: Case, guide: Guide) -> None:
    lines = []
    for opinion in case.dispute.opinions:
        said = "Cannot tell" if opinion.grade is None else ui.grade(guide, opinion.grade)
        words = ": ".join(filter(None, (opinion.reason, opinion.note)))
        about = f'<span class="gs-quiet">{OTHER_TEXT}</span>' if opinion.other_text else ""
        lines.append(f'<div class="gs-opinion">{said}{about}<span dir="auto">{escape(words)}</span></div>')
    st.html("".join(lines))
