"""My consistency: how often an annotator gives the same grade to the same pair again."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.workplace import project_store
from curation.agreement.within import MINIMUM_REPEATS, Within, read_repeats, within
from curation.labeling.queue import next_showings
from curation.store.rows import Annotator


def show(annotator: Annotator) -> None:
    ui.lead("Some items come twice, unmarked and far apart. This is how often you graded both alike.")
    store = project_store()
    queue = next_showings(store, annotator.name, limit=0)
    with store.reading() as cursor:
        mine = [within(row) for row in read_repeats(cursor) if row.annotator == annotator.name]
    if not queue.total or not mine:
        st.info("You have no items yet. Once a round is opened with you in it, they are under Label.")
        return
    left, right = st.columns(2, gap="large")
    left.metric("Answered", f"{queue.done:,} of {queue.total:,}")
    _consistency(right, mine[0])


def _consistency(place: st.delta_generator.DeltaGenerator, mine: Within) -> None:
    if mine.identical is None or mine.low is None or mine.high is None or mine.too_few:
        place.metric("Same grade again", "–")
        why = mine.undefined or f"too few repeats so far, at least {MINIMUM_REPEATS} are needed"
        with place:
            ui.quiet(f"Not shown: {why}.")
        return
    place.metric("Same grade again", ui.share(mine.identical))
    with place:
        ui.quiet(
            f"On {mine.n:,} repeats; 95 % interval {ui.share(mine.low)} to {ui.share(mine.high)}. "
            "People repeat themselves in about three of four cases."
        )
