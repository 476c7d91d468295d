"""Guide, starting: the text that a draft begins with, from the project, from goldgrade, or from a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from app import ui
from app.acts import Acts
from app.uploads import small_text
from app.views.guide.editor import GUIDE, GuideEditor, replace_draft
from curation.guides.drafts import LONGEST_SOURCE, GuideDraft
from curation.guides.guide import current_guide
from curation.guides.parse_guide import shipped_guides
from curation.guides.write_guide import source_of
from curation.store import Store

FILE = "A file"


def start(store: Store, acts: Acts, others: Sequence[GuideDraft], editor: GuideEditor | None) -> None:
    """Choose a text and begin; where there is a draft, it is replaced."""
    with store.reading() as cursor:
        guide = current_guide(cursor)
    sources: dict[str, Callable[[], str]] = {f"The current guide: {guide.title}": lambda: source_of(guide)}
    for other in others:
        sources[f"The draft of {other.author}, {other.saved_at:%d %b %H:%M} UTC"] = _given(other.source)
    for shipped in shipped_guides():
        sources[f"Comes with goldgrade: {shipped.title}"] = _given(shipped.source)
    form = acts.form(GUIDE)
    name = st.selectbox("Begin with", [*sources, FILE], key=f"begin {form.key}", width=420)
    uploaded = None
    if name == FILE:
        uploaded = st.file_uploader("Guide", type=["md", "markdown", "txt"], key=f"file {form.key}")
    label = "Write the next guide" if editor is None else "Replace my draft"
    if st.button(label, type="primary", disabled=name == FILE and uploaded is None, key=f"start {form.key}"):
        source = partial(small_text, uploaded, 4 * LONGEST_SOURCE) if uploaded is not None else sources[name]
        acts.do(form, lambda: _started(store, acts, source, editor))
    if editor is not None:
        ui.quiet("What you have written so far stays in the project's record.")


def _given(source: str) -> Callable[[], str]:
    return lambda: source


def _started(store: Store, acts: Acts, source: Callable[[], str], editor: GuideEditor | None) -> None:
    replace_draft(store, source(), acts.by, editor)
