"""People: who works on the project, what a lead can change of one of them, and a form to invite somebody."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from app import ui
from app.acts import Acts
from app.app_page import LEADS, SETTINGS, AppPage
from app.components.links import PageLink, page_link
from app.context import project_store
from app.views.people import changing
from app.views.people.changing import CHOSEN, Done
from curation.labeling.rounds.forecast import Workload, workloads
from curation.people.accounts import Account, list_accounts
from curation.store import Annotator

COLUMNS = ["Name", "Role", "Signs in", "Judged", "Open items", "Since"]
ADDRESS = "/people"


def show(annotator: Annotator) -> None:
    acts, store = Acts(annotator), project_store()
    with store.reading() as cursor:
        accounts = list_accounts(cursor)
        loads = workloads(cursor)
    chosen = next((account for account in accounts if account.name == st.query_params.get(CHOSEN)), None)
    left, right = st.columns([2, 1], gap="medium")
    with left:
        ui.table("Everybody", COLUMNS, [_row(account, loads.get(account.name)) for account in accounts])
        ui.quiet("Choose a name to change the account. People whom you deactivate keep their judgments.")
    with right:
        _done(changing.forms(acts).result)
        if chosen is None:
            changing.invite_somebody(store, acts)
        else:
            ui.heading(chosen.name)
            load = loads.get(chosen.name)
            changing.show(store, acts, chosen, load.open if load else 0)
            st.html(f'<p class="gs-quiet">{page_link(PageLink("Invite somebody", ADDRESS))}</p>')


PAGE = AppPage(50, "People", "people", LEADS, show, group=SETTINGS)


def _done(last: Done | None) -> None:
    """What was done last, next to the forms: the top of the page may be out of sight."""
    if last:
        st.success("\n\n".join(map(ui.plain, last.said.splitlines())), icon=":material/check:")
        if last.link:
            st.code(last.link, language=None, wrap_lines=True)


def _row(account: Account, load: Workload | None) -> tuple[object, ...]:
    return (
        PageLink(account.name, f"{ADDRESS}?{urlencode({CHOSEN: account.name})}"),
        account.role,
        account.ways,
        load.answered if load else 0,
        load.open if load else 0,
        f"{account.added_at:%d %b %Y}",
    )
