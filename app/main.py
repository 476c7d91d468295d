"""The frame of every page: who is signed in, and the pages that their role has use for.

A page that is not listed is not thereby forbidden: `curation` checks the role in what the page asks for.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import streamlit as st

from app import ui
from app.views import adjudicate, agreement, curate, label, my_consistency, releases, rounds
from app.workplace import signed_in
from curation.errors import CurationError
from curation.labeling.annotators import require_role
from curation.store.rows import Annotator

EVERYONE = ("annotator", "reviewer", "lead")
REVIEWERS = ("reviewer", "lead")
PAGES: list[tuple[ModuleType, str, tuple[str, ...]]] = [
    (label, "Label", EVERYONE),
    (my_consistency, "My consistency", EVERYONE),
    (adjudicate, "Adjudicate", REVIEWERS),
    (curate, "Curate", ("lead",)),
    (rounds, "Rounds", ("lead",)),
    (agreement, "Agreement", REVIEWERS),
    (releases, "Releases", ("lead",)),
]


def page(module: ModuleType, title: str, roles: tuple[str, ...], annotator: Annotator) -> Any:
    """A Streamlit page that shows the module to the annotator, and errors as sentences."""

    def show() -> None:
        if module is not label:
            st.title(title, anchor=False)
        try:
            require_role(annotator, *roles)
            module.show(annotator)
        except CurationError as error:
            ui.problem(error)

    name = module.__name__.rpartition(".")[2]
    return st.Page(show, title=title, url_path=name.replace("_", "-"), default=module is label)


def main() -> None:
    st.set_page_config(page_title="goldset", layout="wide")
    annotator = signed_in(dict(st.context.cookies))
    if annotator is None:
        st.markdown("Your sign-in has ended. [Sign in again](/sign-in)")
        st.stop()
    ui.frame(annotator)
    pages = [page(*entry, annotator) for entry in PAGES if annotator.role in entry[2]]
    st.navigation(pages, position="top").run()


main()
