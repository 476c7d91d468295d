"""Acts: what the forms of a page do to the project, once for each submission.

Streamlit answers a second click with a second run of the page at once, next to the run that still acts on the
first one, and stops the first run where it next calls Streamlit. Both runs find the button pressed. Therefore
a run waits for an act of its session before it reads anything, a submission has a number that is done once,
and the result of an act is stored before anything can stop its run.
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
    """A form, or several forms where one submission at a time counts.

    number: how many of its submissions were done in this session; part of the key of its button, so that a
        click on a page from before belongs to no button.
    result: what the last one returned; None before the first.
    """

    name: str
    number: int = 0
    result: Any = None

    @property
    def key(self) -> str:
        return f"{self.name} {self.number}"


class _SessionActs:
    def __init__(self) -> None:
        self.lock = RLock()
        self.forms: dict[str, FormState] = {}


class Acts:
    """The acts of a session, as a run of a page finds them when it begins; `by` names who is signed in."""

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
        refused: Callable[[CurationError], object] = ui.problem,
    ) -> None:
        """Do what a form asks, unless this submission was done, and run the page again.

        A refusal is shown here, and the submission can be made again.

        Parameters
        ----------
        action: must not call Streamlit, which may stop the run there.
        refused: shows a refusal.
        """
        forms = self._session.forms
        try:
            with self._session.lock:
                if forms.get(form.name, form).number == form.number:
                    forms[form.name] = form._replace(number=form.number + 1, result=action())
        except CurationError as error:
            log.write(
                logging.WARNING,
                "A form was refused",
                annotator=self.by,
                form=form.name,
                error_at=log.raised_at(error),
            )
            refused(error)
        else:
            st.rerun()
