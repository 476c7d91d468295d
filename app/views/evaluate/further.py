"""Evaluate, what else can be asked: options of the runs, and the answers of systems.

Both are folded: who uploads a run and presses the button needs none of it.
"""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from app import ui
from app.components.forms import Form
from app.views.evaluate.uploads import UploadedFile, choose_files
from curation.core.errors import CurationError
from curation.evaluation.answers.grades import neighbour_projects, releases_of
from curation.evaluation.answers.to_grade import GUIDES
from curation.evaluation.request import EvaluateRequest
from curation.store import Store

NONE = "None"


class ChosenPart(NamedTuple):
    """What is evaluated; `measures` are the default ones, by the first of which the leaderboard is.

    `scale` is ascending; `mark` is its mark, if any.
    """

    release: str
    release_id: str
    part: str
    sealed: bool
    measures: tuple[str, ...]
    facets: tuple[str, ...]
    scale: tuple[int, ...]
    mark: str | None = None

    @property
    def key(self) -> str:
        return f"{self.release_id} {self.part}"


def ask_about_runs(form: Form[EvaluateRequest], chosen: ChosenPart, is_lead: bool) -> None:
    """Baseline, reranking, hard negatives, and candidates."""
    with st.expander("Options"):
        form.ask("baseline")
        if not chosen.sealed:
            form.ask("test")
        form.ask("first_stage", "hard_negatives")
        if is_lead:
            form.ask("to_pool")


def ask_for_answers(
    store: Store, is_lead: bool, key: str
) -> tuple[list[UploadedFile], dict[str, str | None]]:
    """Files of answers, and for leads where people graded them."""
    with st.expander("Answers of the systems"):
        files = choose_files(
            "Files of answers",
            "Name of the answering system",
            key,
            "Rows of query, answer, contexts and citations, as CSV, TSV or JSON lines. Exact match and F1 "
            "are with the reference answers of the release. Name the system as its run, and the report "
            "shows both together.",
        )
        if files and is_lead:
            return files, {what: _graded(store, what, key) for what in GUIDES}
        if files:
            ui.quiet("A lead can add what people graded: correctness, faithfulness and support of nuggets.")
        return files, {}


def _graded(store: Store, what: str, key: str) -> str | None:
    """A project in this one's folder and its release, as PROJECT=RELEASE, or None."""
    label = what.capitalize()
    project = st.selectbox(
        f"{label}: the project in which people graded the answers",
        [NONE, *neighbour_projects(store)],
        key=f"{what} {key}",
        help="Projects in the folder of this one are offered.",
    )
    if project == NONE:
        return None
    try:
        releases = releases_of(store, project)
    except CurationError as error:
        ui.problem(error)
        return None
    if not releases:
        ui.quiet(f"{project} has no release yet.")
        return None
    release = st.selectbox(f"{label}: its release", releases, key=f"{what} release {key} {project}")
    return f"{project}={release}"
