"""The record by which a module in `app.views` becomes a page."""

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
"""The groups of the navigation, in its order."""


def _always(_: Annotator) -> bool:
    return True


class AppPage(NamedTuple):
    """One page: its title, its path, and whose navigation has it.

    position: pages are listed in ascending order of it; the first one of a role is at `/`, too.
    show: draws the page for an annotator; a `CurationError` is shown as a sentence.
    group: the menu that has the page where a role has too many pages for a row of links; without one it has a
    link of its own.
    listed: whether the navigation names the page to somebody; its address leads there anyway. None: it is
    reached by links alone.
    """

    position: int
    title: str
    address: str
    roles: tuple[str, ...]
    show: Callable[[Annotator], None]
    shows_title: bool = True
    group: str = ""
    listed: Callable[[Annotator], bool] | None = _always
