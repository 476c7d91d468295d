"""People, adding: a form for somebody new, who signs in by a password, an address, or both."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.signin.providers import auth_settings
from app.views.people.changing import PEOPLE, act
from curation.people.annotators import ROLES, SHORTEST_PASSWORD, add_annotator
from curation.store import Store

MEANING = {
    "annotator": "grades documents",
    "reviewer": "grades, and settles disagreements",
    "lead": "all of this, and the project itself",
    "evaluator": "scores systems, and sees nothing of labeling",
}


def show(store: Store, acts: Acts) -> None:
    ui.heading("Add somebody")
    with st.form(f"add {acts.form(PEOPLE).key}"):
        name = st.text_input("Name", max_chars=63, help="Letters, digits and . @ + - _, no spaces.")
        role = st.selectbox(
            "Role", ROLES, format_func=lambda role: f"{role}: {MEANING[role]}", key="new role"
        )
        password = ""
        if auth_settings().passwords:
            password = st.text_input(
                "Password",
                type="password",
                autocomplete="new-password",
                help=f"At least {SHORTEST_PASSWORD} characters. They can change it.",
            )
        email = st.text_input("E-mail address", help="For sign-in through an identity provider.")
        asked = st.form_submit_button("Add", type="primary")

    def deed() -> str:
        added = add_annotator(store, name.strip(), role, password or None, email.strip() or None, acts.by)
        return f"{added.name} is here as {added.role}."

    if asked:
        act(acts, deed)
