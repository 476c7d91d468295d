"""Adjudicate, the decision on the pair on screen: a grade by its key, and a reason.

Every button has its key. The pair is part of the buttons' keys, so that a press belongs to the pair that was
on screen when it was made; a press that comes twice sets the same state, or asks for what is done already.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.keys import Draft, keys
from app.context import project_store
from app.signin.current_user import sessions
from app.views.adjudicate import other_actions
from app.views.adjudicate.reviewing import Reviewing
from curation.adjudication.adjudication import decide
from curation.adjudication.disputes import Case
from curation.errors import InputError
from curation.guides.guide import Guide
from curation.text import digest

NO_GRADE = "No grade can be given"
NONE = "x"
"""A key that no guide's grade can have."""
RESERVED = "cr"
"""Keys that Streamlit reserves; a grade that has one can only be clicked."""


def show(case: Case, guide: Guide, acts: Acts, state: Reviewing) -> None:
    pair = digest(case.dispute.query_id, case.dispute.document_id)[:12]
    picked = _grades(guide, pair, state)
    seen, state.seen = state.seen, case.revision  # from here on it is on screen
    with st.form(f"decide {pair}", border=False):
        with st.container(key="reason"):
            reason = st.text_area(
                "Reason", height=90, key=f"reason {pair}", placeholder="One sentence, kept with the decision"
            )
        decided = st.form_submit_button("Decide `Ctrl Enter`", type="primary", key=f"decided {pair}")
    if decided:
        _decide(case, seen, picked, reason, acts, state)
    asking = other_actions.show(case, pair, acts, state)
    draft = Draft(f"reason-{pair}", _draft_name(acts, case))
    reason_to_focus = f"asking {pair}" if asking else f"{pair} {picked}" if picked is not None else ""
    if asking:
        keys("unclear", reason_to_focus, draft=draft, sent=state.sent)
    else:
        chosen = "".join([*(step.key for step in guide.scale if step.key not in RESERVED), NONE])
        keys("reason", reason_to_focus, chosen, other_actions.UNCLEAR, draft, state.sent)


def _draft_name(acts: Acts, case: Case) -> str:
    """A reason in progress belongs to this project, this reviewer, this pair and what was decided before."""
    pair = digest(case.dispute.query_id, case.dispute.document_id, case.revision)
    return f"goldset:{sessions().project}:{acts.by}:reason:{pair}"


def _grades(guide: Guide, pair: str, state: Reviewing) -> int | str | None:
    """The grades as buttons, and which of them is chosen for this pair."""
    of, picked = state.picked
    picked = picked if of == pair else None
    with st.container(key="grades", gap="xsmall"):
        for step in reversed(guide.scale):
            _choice(pair, step.value, f"{step.value} {step.name}", step.key, picked, state)
        _choice(pair, NO_GRADE, NO_GRADE, NONE, picked, state)
    colours = "".join(
        f'.st-key-grades [class*="st-key-grade-{step.value}-"] {{ --gs-grade: {step.colour}; }}'
        for step in guide.scale
    )
    st.html(f"<style>{colours}</style>")
    return picked


def _choice(
    pair: str, value: int | str, name: str, key: str, picked: int | str | None, state: Reviewing
) -> None:
    st.button(
        ui.plain(name),
        key=f"grade {value} {pair}",
        type="primary" if value == picked else "secondary",
        shortcut=key if key not in RESERVED else None,
        width="stretch",
        on_click=state.pick,
        args=(pair, value),
    )


def _decide(
    case: Case, seen: int | None, picked: int | str | None, reason: str, acts: Acts, state: Reviewing
) -> None:
    item = case.dispute
    if seen is not None and case.revision > seen:
        return  # somebody else decided meanwhile, and the page shows it above

    draft = _draft_name(acts, case)

    def deed() -> None:
        if picked is None:
            raise InputError(f"Choose a grade, or “{NO_GRADE}”.")
        grade = picked if isinstance(picked, int) else None
        decide(
            project_store(),
            item.query_id,
            item.document_id,
            grade,
            reason,
            acts.by,
            seen,
            item.content_hash,
        )
        said = NO_GRADE if grade is None else f"grade {grade}"
        state.leave(f"Decided: {said}. You can change it at the end of this page.", draft)

    acts.do(acts.form("adjudicate"), deed)
