"""Releases, the difference: what became of an older release."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from curation.releases.diff.diff import Diff, diff
from curation.releases.diff.sections import diff_sections, findings, title_of
from curation.releases.release_rows import (
    ReleaseRow,
)
from curation.store import Store

KEPT = 4
"""Differences that are kept in memory."""
OPEN_PARTS = 2
"""Sections that are open when a difference is shown."""


def show_difference(store: Store, release: ReleaseRow, releases: Sequence[ReleaseRow]) -> None:
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
    found = _difference(store, str(store.path), *((row.name, row.release_id) for row in (before, after)))
    ui.heading(title_of(found))
    st.markdown("\n".join(f"- {ui.plain(sentence)}" for sentence in findings(found)))
    ui.folded(diff_sections(found), OPEN_PARTS, words=True)


@st.cache_resource(max_entries=KEPT, show_spinner="Comparing the releases…")
def _difference(_store: Store, path: str, before: tuple[str, str], after: tuple[str, str]) -> Diff:
    """Names and ids: what is frozen never changes, so nothing else decides."""
    return diff(_store, before[0], after[0])
