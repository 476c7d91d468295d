"""Guide, editing: the draft in fields or as a whole text, with what annotators will read next to it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.keys import live
from app.grading import guide_panel
from app.views.guide import fields
from app.views.guide.editor import GUIDE, GuideEditor
from app.views.guide.starting import start
from curation.guides.drafts import GuideDraft, discard_draft, open_drafts, own_draft
from curation.guides.fields import read_fields
from curation.guides.front_matter import GuideProblem
from curation.guides.parse_guide import guide_problems, parse_guide
from curation.store import Store

FIELDS, TEXT = "Fields", "Whole text"
AREA = "guide-editor"
HEIGHT = 680


def show(store: Store, acts: Acts, editor: GuideEditor | None) -> None:
    with store.reading() as cursor:
        drafts, held = open_drafts(cursor), own_draft(cursor, acts.by)
    others = [draft for draft in drafts if draft.author != acts.by]
    if editor is None or held is None:
        ui.quiet("Nothing changes for annotators while you write. Publish the draft when it is ready.")
        start(store, acts, others, None)
        return
    if held.revision != editor.draft.revision:
        _elsewhere(editor, held)
        return
    _head(store, acts, editor, others)
    left, right = st.columns(2, gap="large")
    with left, st.container(key=AREA):
        _write(editor)
    live(AREA)
    with right:
        _preview(editor)


def _elsewhere(editor: GuideEditor, held: GuideDraft) -> None:
    st.warning(
        f"Your draft was saved in another window at {held.saved_at:%H:%M} UTC. Load that text here. This "
        "window's text is below, for what you want to copy from it.",
        icon=":material/sync_problem:",
    )
    if st.button("Load what was saved", type="primary"):
        editor.load(held)
        st.rerun()
    with st.expander("The text of this window"):
        st.code(editor.wanted, language=None, wrap_lines=True)


def _head(store: Store, acts: Acts, editor: GuideEditor, others: Sequence[GuideDraft]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button("Download", editor.source, "guide.md", "text/markdown", icon=":material/download:")
        with st.popover("Start again from", icon=":material/restart_alt:"):
            start(store, acts, others, editor)
        with st.popover("Discard", icon=":material/delete:"):
            ui.quiet("The draft goes from this page. Its text stays in the project's record.")
            if st.button("Discard the draft", key=f"discard {acts.form(GUIDE).key}"):
                acts.do(acts.form(GUIDE), lambda: _discarded(store, acts))
        ui.quiet(f"Saved as you write, last at {editor.draft.saved_at:%H:%M:%S} UTC.")
    for other in others:
        ui.quiet(
            f"{other.author} is writing a draft, too, saved last on {other.saved_at:%d %b at %H:%M} UTC. "
            "Start "
            "again from it to go on with that text."
        )


def _discarded(store: Store, acts: Acts) -> str:
    discard_draft(store, acts.by)
    return "The draft is discarded. The current guide is unchanged."


def _write(editor: GuideEditor) -> None:
    form = read_fields(editor.source)
    options = [FIELDS, TEXT] if form else [TEXT]
    mode = st.segmented_control(
        "Edit as",
        options,
        default=options[0],
        required=True,
        key=f"mode {len(options)}",
        label_visibility="collapsed",
    )
    if mode == FIELDS and form:
        fields.show(editor, form)
        return
    if form is None:
        ui.quiet("The front matter cannot be shown as fields. The problem next to it says where.")
    key = f"source {editor.generation}"
    if key not in st.session_state:
        st.session_state[key] = editor.source
    st.text_area(
        "Markdown with YAML front matter", height=HEIGHT, key=key, on_change=_keep, args=(editor, key)
    )


def _keep(editor: GuideEditor, key: str) -> None:
    written = str(st.session_state[key]).replace("\r\n", "\n")
    editor.change(lambda _: written)


def _preview(editor: GuideEditor) -> None:
    problems = guide_problems(editor.source)
    if problems:
        _problems(problems, editor.source)
    if editor.valid:
        ui.quiet("As annotators will read it" + (", before the problem" if problems else ""))
        with st.container(height=HEIGHT, border=True):
            guide_panel(parse_guide(editor.valid), "preview")


def _problems(problems: Sequence[GuideProblem], source: str) -> None:
    lines = source.splitlines()
    sentences = []
    for problem in problems:
        said = fields.sentence(problem)
        if problem.line and problem.location and problem.line <= len(lines):
            said = f"Line {problem.line}, {lines[problem.line - 1].strip()[:80]}\n{said}"
        elif problem.line:
            said = f"Line {problem.line}: {said}"
        sentences.append("  \n".join(map(ui.plain, said.splitlines())))
    st.error("\n\n".join(sentences), icon=":material/error:")
