"""People: who works on the project; below, what a lead can change of one of them, and a form to add one."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.context import project_store
from app.page import LEADS, SETTINGS, AppPage
from app.views.people import changing
from app.views.people.changing import PEOPLE, show_practice
from curation.labeling.rounds.forecast import Workload, workloads
from curation.people.accounts import Account, list_accounts
from curation.store import Annotator

COLUMNS = ["Name", "Role", "Signs in", "Judged", "Open items", "Since"]
SOMEBODY = "Choose somebody"


def show(annotator: Annotator) -> None:
    acts, store = Acts(annotator), project_store()
    with store.reading() as cursor:
        found = list_accounts(cursor)
        loads = workloads(cursor)
    ui.table("Everybody", COLUMNS, [_row(one, loads.get(one.name)) for one in found])
    ui.quiet("Judgments of who is deactivated remain and count. Each change here is recorded with your name.")
    left, right = st.columns([3, 2], gap="large")
    with left:
        _done(acts.form(PEOPLE).result)
        ui.heading("Change an account")
        names = [one.name for one in found]
        name = st.selectbox("Person", names, index=None, placeholder=SOMEBODY, width=320, key="person")
        chosen = next((one for one in found if one.name == name), None)
        if chosen is not None:
            load = loads.get(chosen.name)
            changing.show(store, acts, chosen, load.open if load else 0)
            show_practice(store, acts, chosen)
            changing.end(store, acts, chosen, load.open if load else 0)
    with right:
        changing.add_somebody(store, acts)


PAGE = AppPage(50, "People", "people", LEADS, show, group=SETTINGS)


def _done(said: str | None) -> None:
    """What was done last, next to the forms: the top of the page may be out of sight."""
    if said:
        st.success("\n\n".join(map(ui.plain, said.splitlines())), icon=":material/check:")


def _row(one: Account, load: Workload | None) -> tuple[object, ...]:
    return (
        one.name,
        one.role,
        one.ways,
        load.answered if load else 0,
        load.open if load else 0,
        f"{one.added_at:%d %b %Y}",
    )
