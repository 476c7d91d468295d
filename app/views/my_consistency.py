"""My consistency: whether somebody grades the same pair alike again, how fast, and what was settled."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import JUDGE, AppPage
from app.context import project_store
from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS
from curation.agreement.annotators.own_work import (
    BLOCK,
    FEWEST_SETTLED,
    Difference,
    MyConsistency,
    MyDifferences,
    has_answered,
    my_differences,
    my_work,
)
from curation.core.text import amount, decimal, percent
from curation.guides.guide import Guide, current_guide
from curation.labeling.session.queue import next_showings
from curation.people.annotators import JUDGING
from curation.people.seal_access import withheld
from curation.store import Annotator

COLUMNS = ["Query", "Document", "You said", "Settled as", "By", "The reviewer's reason"]
SHOWN = 50
WHEN = (
    f"Counted once a day, in blocks of {BLOCK} answers, and when a round is closed: so nothing here shows "
    "which items were repeats."
)


def show(annotator: Annotator) -> None:
    ui.lead("Some items come twice, unmarked and far apart. Here is how often you gave both the same grade.")
    store = project_store()
    queue = next_showings(store, annotator.name, limit=0)
    mine = my_work(store, annotator.name)
    if not queue.total and mine.consistency is None:
        st.info("You have no items yet. Once a round is opened with you in it, they are under Label.")
        return
    columns = st.columns(4, gap="large")
    columns[0].metric("Answered", f"{queue.done:,} of {queue.total:,}")
    columns[1].metric("This hour", f"{mine.hour:,}")
    columns[2].metric("Seconds each", decimal(mine.seconds_each, 1))
    with columns[2]:
        ui.quiet("Median on screen, your last 50 answers.")
    if mine.consistency is not None:
        _consistency(columns[3], mine.consistency)
    with store.reading() as cursor:
        guide = current_guide(cursor)
    _differences(my_differences(store, annotator.name), guide)


def _is_listed(annotator: Annotator) -> bool:
    with project_store().reading() as cursor:
        return has_answered(cursor, annotator.name)


PAGE = AppPage(24, "My consistency", "my-consistency", JUDGING, show, group=JUDGE, listed=_is_listed)


def _consistency(place: st.delta_generator.DeltaGenerator, mine: MyConsistency) -> None:
    if mine.share is None:
        place.metric("Same grade again", "–")
        with place:
            ui.quiet(f"Shown from {MINIMUM_REPEATS} repeats on. {WHEN}")
        return
    place.metric("Same grade again", percent(mine.share))
    with place:
        ui.quiet(
            f"On {amount(mine.repeats, 'repeat')}; 95 % interval {percent(mine.low)} to {percent(mine.high)}."
            f" Most people repeat themselves about three times in four. {WHEN}"
        )


def _differences(found: MyDifferences, guide: Guide) -> None:
    ui.heading("Where the final grade differs from yours")
    if found.waits:
        st.info(
            "Your settled pairs are shown once no item can come to you, so that an item that comes again is "
            "graded afresh."
        )
        return
    if found.share is not None:
        ui.quiet(
            f"{found.alike:,} of your {found.settled:,} settled pairs have your grade: "
            f"{percent(found.share)}, 95 % interval {percent(found.low)} to {percent(found.high)}."
        )
    elif found.settled:
        ui.quiet(
            f"{found.settled:,} of your pairs are settled so far; a share is shown from {FEWEST_SETTLED}."
        )
    ui.sentences(withheld(found.sealed))
    if not found.differences:
        st.info(f"Nothing so far. A pair comes here once it is settled with another grade than yours. {WHEN}")
        return
    names = {step.value: f"{step.value} {step.name}" for step in guide.scale}
    rows = [_row(difference, names) for difference in found.differences[:SHOWN]]
    more = "" if len(found.differences) <= SHOWN else f", the last {SHOWN} of {len(found.differences):,}"
    ui.table(f"Your grade and what was settled{more}", COLUMNS, rows, words=True)
    ui.quiet("A settled grade is not always right, and the reason may show what the guide means.")


def _row(difference: Difference, names: dict[int, str]) -> tuple[object, ...]:
    mine = "Cannot tell" if difference.mine is None else names.get(difference.mine, str(difference.mine))
    settled = (
        "No grade can be given"
        if difference.settled is None
        else names.get(difference.settled, str(difference.settled))
    )
    return (difference.query, difference.title, mine, settled, difference.how, difference.reason or "")
