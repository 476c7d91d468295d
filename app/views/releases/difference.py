"""The difference between a release and another release."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.context import BY_PATH
from app.page_context import PageContext
from curation.releases.diff import Diff, compare_releases
from curation.releases.diff_sections import list_diff_findings, make_diff_sections, make_title
from curation.releases.release_rows import ReleaseRow, list_releases
from curation.store import Store

_MAX_CACHED_DIFFS = 4
_OPEN_SECTION_COUNT = 2


def show(context: PageContext, release: ReleaseRow) -> None:
    """Compare a release with another release; the one frozen first comes first."""
    store = context.store
    with store.reading() as cursor:
        releases = list_releases(cursor)
    order = [row.name for row in releases]
    index = order.index(release.name)
    other_releases = [*reversed(releases[:index]), *releases[index + 1 :]]
    if not other_releases:
        ui.note("This is the only release, so there is nothing to compare.")
        return
    by_name = {row.name: row for row in other_releases}
    other = by_name[st.selectbox("Compare with", list(by_name), width=320, key=f"with {release.name}")]
    before, after = sorted((other, release), key=lambda row: order.index(row.name))
    difference = _compare(store, (before.name, before.release_id), (after.name, after.release_id))
    ui.heading(make_title(difference))
    ui.findings(list_diff_findings(difference))
    ui.folded(make_diff_sections(difference), _OPEN_SECTION_COUNT, words=True)


@st.cache_resource(max_entries=_MAX_CACHED_DIFFS, show_spinner="Comparing the releases…", hash_funcs=BY_PATH)
def _compare(store: Store, before: tuple[str, str], after: tuple[str, str]) -> Diff:
    """Compare two releases, given by name and id; the result is cached permanently."""
    return compare_releases(store, before[0], after[0])
