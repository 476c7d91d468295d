"""Releases: the frozen gold sets, and whether they are still what they were."""

from __future__ import annotations

import json

import streamlit as st

from app import ui
from app.workplace import project_store
from curation.releases import Verified, verify
from curation.releases.frozen import ReleaseRow, list_releases
from curation.store.rows import Annotator

COLUMNS = ["Name", "Frozen (UTC)", "By", "Judged pairs", "Release id"]


def show(annotator: Annotator) -> None:
    store = project_store()
    with store.reading() as cursor:
        releases = list_releases(cursor)
    if not releases:
        st.info("Nothing is frozen yet. `goldset freeze NAME` makes a release of the settled grades.")
        return
    ui.table("Frozen gold sets, newest first", COLUMNS, [_row(row) for row in reversed(releases)])
    with st.form("verify", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Release", [row.name for row in reversed(releases)], width=320)
        asked = st.form_submit_button("Verify every line")
    if asked:
        with st.spinner("Comparing every line with its sum…"):
            _verdict(verify(store, name))


def _row(row: ReleaseRow) -> tuple[object, ...]:
    pairs = json.loads(row.manifest)["parts"]["qrels"]["lines"]
    return row.name, f"{row.frozen_at:%Y-%m-%d %H:%M}", row.frozen_by, pairs, row.release_id


def _verdict(found: Verified) -> None:
    if found.intact:
        st.success(
            f"{ui.plain(found.name)} is what was frozen: {found.parts} parts and {found.documents:,} "
            "documents agree with their sums.",
            icon=":material/verified:",
        )
        return
    lines = "\n".join(f"- {ui.plain(problem)}" for problem in found.problems)
    st.error(f"{ui.plain(found.name)} was altered in {found.altered:,} places:\n\n{lines}")
