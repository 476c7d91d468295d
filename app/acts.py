"""A page's acts: changes to the project, which each submission of a form makes at most once.

When a person clicks twice, Streamlit starts a second run of the page while the first run still works, and
stops the first run at its next call of a Streamlit function. Both runs see the button as pressed. Therefore a
run waits for unfinished acts of its session before it reads the project, a submission has a number so that it
acts only once, and the result of an act is stored before Streamlit can stop the run. A click on a page that
no longer shows the current project does nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import RLock
from typing import Any, NamedTuple

import streamlit as st

from app import ui
from curation.core import log
from curation.core.errors import CurationError
from curation.store import Annotator

_SESSION = "acts"


class FormState(NamedTuple):
    """The state of a form, or the state shared by several forms that are submitted one at a time.

    submission_count: the number of submissions in this session. The key of the form's button contains this
        count, so that a click on an outdated page has no effect.
    result: the result of the last submission; None before the first submission.
    """

    name: str
    submission_count: int = 0
    result: Any = None

    @property
    def key(self) -> str:
        return f"{self.name} {self.submission_count}"


class _SessionActs:
    def __init__(self) -> None:
        self.lock = RLock()
        self.forms: dict[str, FormState] = {}


class Acts:
    """A browser session's acts during one run of a page, by the signed-in person `by`."""

    def __init__(self, annotator: Annotator) -> None:
        self.by = annotator.name
        self._session: _SessionActs = st.session_state.setdefault(_SESSION, _SessionActs())
        with self._session.lock:
            self._forms = dict(self._session.forms)

    def form(self, name: str) -> FormState:
        return self._forms.get(name) or FormState(name)

    def do(
        self,
        form: FormState,
        action: Callable[[], object],
        show_refusal: Callable[[CurationError], object] = ui.problem,
    ) -> None:
        """Run a form's action, unless this submission was already handled, and rerun the page.

        After a refusal, people can submit the form again.

        Parameters
        ----------
        action: a function that calls no Streamlit function, because such a call may stop the run.
        show_refusal: a function that shows a refusal.
        """
        forms = self._session.forms
        try:
            with self._session.lock:
                if forms.get(form.name, form).submission_count == form.submission_count:
                    forms[form.name] = form._replace(
                        submission_count=form.submission_count + 1, result=action()
                    )
        except CurationError as error:
            log.write(
                logging.WARNING,
                "A form was refused",
                annotator=self.by,
                form=form.name,
                error_at=log.describe_origin(error),
            )
            show_refusal(error)
        else:
            st.rerun()


def submit_button(label: str, name: str, form: FormState, state: str, disabled: bool = False) -> bool:
    """Show a form's submit button; a click has no effect if the project has changed since the page was drawn.

    After a click without effect the page explains the reason, unless this session itself changed the project.

    Parameters
    ----------
    state: a text that changes whenever the project changes; the key of the button contains it.
    """
    version = (form.key, state)
    clicked = st.form_submit_button(label, type="primary", key=f"{name} {version}", disabled=disabled)
    previous = st.session_state.get(f"state of {name}", version)
    st.session_state[f"state of {name}"] = version
    if previous != version and previous[0] == form.key and st.session_state.get(f"{name} {previous}"):
        st.warning(
            "Nothing was saved, because the project has changed since this page was loaded. The "
            "page now shows the current state. Check it and try again.",
            icon=":material/update:",
        )
    return clicked
