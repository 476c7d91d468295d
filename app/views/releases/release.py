"""Releases: the frozen gold sets; one of them with its certificate, and who looked at sealed parts."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from app import ui
from app.views.curate.jobs import CurateContext
from app.views.releases import difference, preview
from curation.errors import CurationError
from curation.releases.looks import ListedLook, listed_looks
from curation.releases.overview import override_told
from curation.releases.seal import Opening, openings
from curation.releases.stored import ReleaseRow, graded_pairs, list_releases
from curation.releases.verify import Verified, verify
from curation.splits.certificate.certificate import read_certificate
from curation.splits.certificate.page import certificate_page
from curation.store import Store

COLUMNS = ["Name", "Frozen (UTC)", "By", "Judged pairs", "Release id"]
LOOKS = ["Look", "When (UTC)", "Who", "System", "Parts", "Measure", "Value", "Reason"]


def show(context: CurateContext) -> None:
    store = context.store
    with store.reading() as cursor:
        releases = list_releases(cursor)
    if not releases:
        st.info(
            "Nothing is frozen yet. A release holds the settled grades of a moment. Look at the rule, the "
            "gate and the split, then freeze.",
            icon=":material/info:",
        )
        return
    ui.table("Frozen gold sets, newest first", COLUMNS, [_row(row) for row in reversed(releases)])
    by_name = {row.name: row for row in reversed(releases)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Release", list(by_name), width=320)
        asked = st.button("Verify every line")
    if asked:
        with st.spinner("Comparing every line with its sum…"):
            _verdict(verify(store, name))
    place = [row.name for row in releases].index(name)
    difference.show(store, releases[place], releases[:place])
    _details(store, by_name[name])


def _details(store: Store, release: ReleaseRow) -> None:
    """Show which gates the release overrode, and the certificate of its split."""
    with store.reading() as cursor:
        overridden = override_told(cursor, release)
        try:
            certificate = read_certificate(cursor, release.name)
        except CurationError as error:
            certificate = None
            ui.quiet(error.found)
    for sentence in overridden:
        st.warning(ui.plain(sentence), icon=":material/gavel:")
    _sealed(store, release)
    if certificate is None:
        return
    ui.heading("Certificate of the split")
    preview.part_bars(certificate)
    preview.told(certificate)
    preview.tables(certificate)
    page = certificate_page(certificate, release.name)
    st.download_button(
        "Download this certificate", page, "certificate.html", "text/html", icon=":material/download:"
    )


def _sealed(store: Store, release: ReleaseRow) -> None:
    """Who had grades of sealed parts, and who scored runs on them."""
    with store.reading() as cursor:
        opened = openings(cursor, release.release_id)
        looks = listed_looks(cursor, release.release_id)
    if opened:
        rows = [_opening(one) for one in opened]
        ui.table("Openings of the seal", ["When (UTC)", "Who", "For", "Parts", "Reason"], rows, words=True)
    if looks:
        ui.table("Looks: runs scored on sealed parts", LOOKS, [_look(one) for one in looks], words=True)


def _opening(one: Opening) -> tuple[object, ...]:
    return (*_when(one.opened_at, one.opened_by), one.purpose, _parts(one), one.reason)


def _look(one: ListedLook) -> tuple[object, ...]:
    measure, figure = next(iter(one.figures.items()))
    shown = (one.system, _parts(one), measure, figure["value"])
    return (one.number, *_when(one.looked_at, one.looked_by), *shown, one.reason)


def _when(at: datetime, who: str) -> tuple[str, str]:
    return f"{at:%Y-%m-%d %H:%M}", who


def _parts(one: Opening | ListedLook) -> str:
    return ", ".join(one.parts)


def _row(row: ReleaseRow) -> tuple[object, ...]:
    return row.name, f"{row.frozen_at:%Y-%m-%d %H:%M}", row.frozen_by, graded_pairs(row), row.release_id


def _verdict(found: Verified) -> None:
    if found.intact:
        st.success(
            f"{ui.plain(found.name)} is what was frozen: {found.parts} parts and {found.documents:,} "
            "documents agree with their sums.",
            icon=":material/verified:",
        )
        for note in found.notes:
            st.info(ui.plain(note), icon=":material/info:")
        return
    lines = "\n".join(f"- {ui.plain(problem)}" for problem in found.problems)
    st.error(f"{ui.plain(found.name)} was altered in {found.altered:,} places:\n\n{lines}")
