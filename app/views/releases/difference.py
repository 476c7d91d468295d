"""Releases, the difference: what became of an older release, by cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from app import ui
from curation.releases.diff.diff import diff
from curation.releases.diff.page import diff_page, diff_sections, findings
from curation.releases.stored import ReleaseRow
from curation.reports.page import Section
from curation.store import Store

KEPT = 4
"""Differences that are kept in memory."""
OPEN = 2
"""Sections that are open when a difference is shown."""


class ShownDifference(NamedTuple):
    """A difference as the page shows it, and as one HTML file."""

    findings: list[str]
    sections: list[Section]
    html: str


def show(store: Store, release: ReleaseRow, releases: Sequence[ReleaseRow]) -> None:
    """Compare a release with any other, from the one that was frozen first to the other."""
    places = {row.name: place for place, row in enumerate(releases)}
    place = places[release.name]
    others = [*reversed(releases[:place]), *releases[place + 1 :]]
    if not others:
        ui.quiet("There is no other release to compare it with.")
        return
    by_name = {row.name: row for row in others}
    other = by_name[st.selectbox("Compare with", list(by_name), width=320, key=f"with {release.name}")]
    before, after = sorted((other, release), key=lambda row: places[row.name])
    shown = _difference(store, str(store.path), *((row.name, row.release_id) for row in (before, after)))
    ui.heading(f"From {before.name} to {after.name}")
    st.markdown("\n".join(f"- {ui.plain(sentence)}" for sentence in shown.findings))
    st.download_button(
        "Download the difference",
        shown.html,
        f"{before.name}-{after.name}.html",
        "text/html",
        icon=":material/download:",
    )
    for number, section in enumerate(shown.sections):
        with st.expander(section.heading, expanded=number < OPEN):
            ui.section(section, words=True)


@st.cache_resource(max_entries=KEPT, show_spinner="Comparing the releases…")
def _difference(_store: Store, path: str, before: tuple[str, str], after: tuple[str, str]) -> ShownDifference:
    """Names and ids: what is frozen never changes, so nothing else decides."""
    found = diff(_store, before[0], after[0])
    return ShownDifference(findings(found), diff_sections(found), diff_page(found))
