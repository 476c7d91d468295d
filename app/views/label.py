"""Label: the grading screen of an annotator, and the annotator's consistency on repeated items."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import JUDGE, LEADS, AppPage
from app.components.links import PageLink, page_link
from app.context import project_store
from app.grading import CONSISTENCY, grading
from app.next_stage import show_missing_stage
from app.signin.current_user import sessions
from curation.agreement.intra_annotator import MINIMUM_REPEATS
from curation.agreement.own_work import (
    BLOCK,
    MIN_SETTLED,
    Difference,
    MyDifferences,
    find_own_differences,
    measure_own_work,
)
from curation.core.statistics.estimate import Estimate
from curation.core.text import decimal, percent, pluralize
from curation.guides.guide import Guide, current_guide
from curation.labeling.rounds.upcoming import read_items, read_open_rounds
from curation.labeling.session.queue import read_queue
from curation.people.annotators import JUDGING
from curation.people.seal_access import withheld
from curation.store import Annotator

COLUMNS = ["Query", "Document", "You said", "Consensus", "By", "The reviewer's reason"]
MAX_DIFFERENCES = 50
WHEN = (
    f"Updated daily, in blocks of {BLOCK} answers, and when a round is closed, so that the figures do not "
    "reveal which items were repeats."
)


def show(annotator: Annotator) -> None:
    if st.query_params.get("show") == CONSISTENCY:
        _show_consistency(annotator)
        return
    if annotator.role in LEADS:
        _what_comes_first(annotator)
    grading(annotator.name, sessions().project)


PAGE = AppPage(20, "Label", "label", JUDGING, show, shows_title=False, group=JUDGE)


def _what_comes_first(annotator: Annotator) -> None:
    """Show a link to the next stage of the project to a lead who has no items to grade."""
    store = project_store()
    with store.reading() as cursor:
        items = read_items(cursor, annotator.name, read_open_rounds(cursor))
    if all(item.answered is not None for item in items):
        show_missing_stage(store, annotator, "round")


def _show_consistency(annotator: Annotator) -> None:
    st.title("My consistency", anchor=False)
    st.html(f'<p class="gs-quiet">{page_link(PageLink("Back to Label", "?"))}</p>')
    ui.lead("Some items come to you twice. This page shows how often your two grades agree.")
    store = project_store()
    queue = read_queue(store, annotator.name, limit=0)
    consistency, hour, seconds_each = measure_own_work(store, annotator.name)
    if not queue.total and consistency is None:
        st.info("You have no items yet. Once a round with you in it is open, your items are under Label.")
        return
    columns = st.columns(4, gap="large")
    columns[0].metric("Answered", f"{queue.done:,} of {queue.total:,}")
    columns[1].metric("This hour", f"{hour:,}")
    columns[2].metric("Seconds each", decimal(seconds_each, 1))
    with columns[2]:
        ui.quiet("Median time on screen of your last 50 answers.")
    if consistency is not None:
        _consistency(columns[3], consistency)
    with store.reading() as cursor:
        guide = current_guide(cursor)
    _differences(find_own_differences(store, annotator.name), guide)


def _consistency(column: st.delta_generator.DeltaGenerator, mine: Estimate) -> None:
    if mine.value is None:
        sentence = f"Shown once you have {MINIMUM_REPEATS} repeats."
    else:
        sentence = (
            f"On {pluralize(mine.n, 'repeat')}; 95 % interval {percent(mine.low)} to {percent(mine.high)}. "
            "Most people give the same grade again about three times in four."
        )
    column.metric("Same grade again", percent(mine.value))
    with column:
        ui.quiet(f"{sentence} {WHEN}")


def _differences(mine: MyDifferences, guide: Guide) -> None:
    ui.heading("Pairs whose final grade differs from your grade")
    if mine.waits:
        st.info(
            "This page shows the consensus on your pairs once no item can come to you any more. Until then, "
            "an item could come again, and you should grade it without knowing the consensus."
        )
        return
    if mine.share.value is not None:
        ui.quiet(
            f"{mine.alike:,} of your {pluralize(mine.compared, 'pair')} with a consensus have your grade: "
            f"{mine.share.percent_text()}."
        )
    elif mine.compared:
        ui.quiet(
            f"{mine.compared:,} of your pairs have a consensus so far; a share is shown from {MIN_SETTLED}."
        )
    ui.sentences(withheld(mine.sealed))
    if not mine.differences:
        st.info(f"Nothing so far. This list shows pairs whose consensus differs from your grade. {WHEN}")
        return
    names = {step.value: f"{step.value} {step.name}" for step in guide.scale}
    rows = [_row(difference, names) for difference in mine.differences]
    ui.table(
        "Your grade and the consensus, newest first", COLUMNS, rows, words=True, max_rows=MAX_DIFFERENCES
    )
    ui.quiet("A consensus is not always right. The reviewer's reason may explain how to read the guide.")


def _row(difference: Difference, names: dict[int, str]) -> tuple[object, ...]:
    mine = "Cannot tell"
    if difference.mine is not None:
        mine = names.get(difference.mine, str(difference.mine))
    consensus = "No grade can be given"
    if difference.consensus is not None:
        consensus = names.get(difference.consensus, str(difference.consensus))
    return difference.query, difference.title, mine, consensus, difference.how, difference.reason or ""
