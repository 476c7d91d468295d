"""The frame of every page, which Streamlit runs: who is signed in, and the navigation."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.navigation import streamlit_pages
from app.signin.current_user import current_user

st.set_page_config(page_title="goldset", layout="wide")
annotator = current_user(dict(st.context.cookies))
if annotator is None:
    st.markdown("Your sign-in has ended. [Sign in again](/sign-in)")
    st.stop()
ui.frame(annotator)
st.navigation(streamlit_pages(annotator), position="top").run()
