"""The record by which a module in `app.views` becomes a page of the navigation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from curation.store import Annotator

REVIEWERS = ("reviewer", "lead")
LEADS = ("lead",)
JUDGE, SET_UP, BUILD, RELEASE = GROUPS = ("Judge", "Set up", "Build", "Release")
"""The groups of the navigation, in its order."""
OFFERED = "offered pages"
"""Where a session keeps the addresses of the pages that its navigation has."""


class AppPage(NamedTuple):
    """One page: its title, its path, and whose navigation has it.

    position: pages are listed in ascending order of it; the first one of a role is at `/`, too.
    show: draws the page for an annotator; a `CurationError` is shown as a sentence.
    group: the menu that has the page where a role has too many pages for a row of links; without one it has a
    link of its own.
    """

    position: int
    title: str
    address: str
    roles: tuple[str, ...]
    show: Callable[[Annotator], None]
    shows_title: bool = True
    group: str = ""
