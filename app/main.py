"""The script that Streamlit runs for every page: it draws the frame around the page."""

from __future__ import annotations

import streamlit as st

from app.components.account import show_header
from app.navigation import count_work, find_menu_index, leave_empty_page, palette_pages, streamlit_pages
from app.signin.current_user import find_current_user

# No docstring, because Streamlit would show it on the page.
CURRENT_MENU_STYLE = (
    '[data-testid="stTopNav"] > :nth-child(%d) button { font-weight: 600; background: var(--gs-here); }'
)

st.set_page_config(layout="wide")
annotator = find_current_user(dict(st.context.cookies))
if annotator is None:
    st.set_page_config(page_title="Signed out · goldgrade")
    st.markdown("You are signed out. [Sign in again](/sign-in)")
    st.stop()
counts = count_work(annotator)
menus = streamlit_pages(annotator)
page = st.navigation(menus, position="top")
leave_empty_page(annotator, page, counts)
if counts and page.title not in counts:  # the page shows its own, newer count
    st.navigation(streamlit_pages(annotator, counts), position="top")
st.set_page_config(page_title=f"{page.title} · goldgrade")
menu_index = find_menu_index(annotator.role, page.title)
if menu_index is not None:
    st.html(f"<style>{CURRENT_MENU_STYLE % (menu_index + 1)}</style>")
show_header(annotator, palette_pages(menus))
page.run()
