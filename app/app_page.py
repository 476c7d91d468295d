"""An app page: the record that each module in `app.views` has."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from curation.store import Annotator

LEADS = ("lead",)
DATA, JUDGE, QUALITY, RELEASE = "Data", "Judge", "Quality", "Release"
SETTINGS = ":material/settings: Settings"
MENUS = (DATA, JUDGE, QUALITY, RELEASE, SETTINGS)


def _always(_: Annotator) -> bool:
    return True


def _count_nothing(_: Annotator) -> int:
    return 0


class AppPage(NamedTuple):
    """An app page: its title, its address, and the roles that may open it.

    position: a number that orders all pages; the first page of a role is also at `/`.
    show: a function that draws the page for an annotator. The app shows a `CurationError` as a sentence.
    menu: the menu of the page for roles with too many pages for a row of links; '' for no menu.
    listed: a function that says whether the navigation lists the page for a person; the address works anyway.
        None: only links on other pages lead to the page.
    first_for: roles that begin at this page, if work waits there.
    count: a function that counts the work that waits on the page for a person with such a role.
    """

    position: int
    title: str
    address: str
    roles: tuple[str, ...]
    show: Callable[[Annotator], None]
    shows_title: bool = True
    menu: str = ""
    listed: Callable[[Annotator], bool] | None = _always
    first_for: tuple[str, ...] = ()
    count: Callable[[Annotator], int] = _count_nothing
