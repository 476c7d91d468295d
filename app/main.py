"""The script that Streamlit runs for every page: it finds the person, the navigation and the tab title."""

from __future__ import annotations

import streamlit as st

from app.components.account import account
from app.navigation import palette_pages, place_in_menus, streamlit_pages
from app.signin.current_user import current_user

# The style of the current menu; no docstring, because Streamlit would show it on the page.
HERE = '[data-testid="stTopNav"] > :nth-child(%d) button { font-weight: 600; background: var(--gs-here); }'

st.set_page_config(layout="wide")
annotator = current_user(dict(st.context.cookies))
if annotator is None:
    st.set_page_config(page_title="Signed out · goldgrade")
    st.markdown("Your sign-in has ended. [Sign in again](/sign-in)")
    st.stop()
menus = streamlit_pages(annotator)
page = st.navigation(menus, position="top")
st.set_page_config(page_title=f"{page.title} · goldgrade")
place = place_in_menus(annotator.role, page.title)
if place is not None:
    st.html(f"<style>{HERE % (place + 1)}</style>")
account(annotator, palette_pages(menus))
page.run()
