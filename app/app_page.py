"""The record that makes a module in `app.views` a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from curation.store import Annotator

REVIEWERS = ("reviewer", "lead")
LEADS = ("lead",)
DATA, JUDGE, QUALITY, RELEASE, SETTINGS = GROUPS = (
    "Data",
    "Judge",
    "Quality",
    "Release",
    ":material/settings: Settings",
)
"""The groups of the navigation, in their order."""


def _always(_: Annotator) -> bool:
    return True


class AppPage(NamedTuple):
    """A page: its title, its address, and the roles that have it.

    position: the place of the page among all pages; the first page of a role is also at `/`.
    show: a function that draws the page for an annotator; a `CurationError` is shown as a sentence.
    group: the menu of the page for roles with too many pages for a row of links; '' for no menu.
    listed: whether the navigation lists the page for a person; its address works anyway. None: only links on
        other pages lead to the page.
    """

    position: int
    title: str
    address: str
    roles: tuple[str, ...]
    show: Callable[[Annotator], None]
    shows_title: bool = True
    group: str = ""
    listed: Callable[[Annotator], bool] | None = _always
