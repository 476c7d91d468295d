"""Guide, Edit: the draft of the next guide, with a preview as annotators see the guide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import send_while_typing
from app.grading import show_guide
from app.uploads import read_small_text
from app.views.settings.guide_editor import GuideEditor, replace_draft
from app.views.settings.guide_fields import describe_problem, show_fields
from curation.guides.drafts import MAX_SOURCE_LENGTH, GuideDraft, discard_draft, find_draft, list_drafts
from curation.guides.front_matter import GuideProblem
from curation.guides.guide import current_guide
from curation.guides.guide_editing import compose_source, read_fields
from curation.guides.guide_text import find_problems, parse_guide, read_shipped_guides
from curation.store import Store

GUIDE_FORM = "guide"
FILE = "A file"
FIELDS, TEXT = "Fields", "Whole text"
AREA = "guide-editor"
HEIGHT = 680


def show(store: Store, acts: Acts, editor: GuideEditor | None) -> None:
    with store.reading() as cursor:
        drafts, stored = list_drafts(cursor), find_draft(cursor, acts.by)
    others = [draft for draft in drafts if draft.author != acts.by]
    if editor is None or stored is None:
        ui.note("Annotators see the current guide until you publish your draft.")
        _show_start(store, acts, others, None)
        return
    if stored.revision != editor.draft.revision:
        _show_other_version(editor, stored)
        return
    _show_actions(store, acts, editor, others)
    left, right = st.columns(2, gap="large")
    with left, st.container(key=AREA):
        _show_form(editor)
    send_while_typing(AREA)
    with right:
        _show_preview(editor)


def _show_start(store: Store, acts: Acts, others: Sequence[GuideDraft], editor: GuideEditor | None) -> None:
    """Ask for a text to start from, which replaces the author's draft."""
    with store.reading() as cursor:
        guide = current_guide(cursor)
    sources: dict[str, Callable[[], str]] = {f"Current guide: {guide.title}": lambda: compose_source(guide)}
    for other in others:
        sources[f"{other.author}'s draft, {other.saved_at:%d %b %H:%M} UTC"] = partial(str, other.source)
    for shipped in read_shipped_guides():
        sources[f"Comes with goldgrade: {shipped.title}"] = partial(str, shipped.source)
    form = acts.form(GUIDE_FORM)
    name = st.selectbox("Begin with", [*sources, FILE], key=f"begin {form.key}", width=420)
    file = None
    if name == FILE:
        file = st.file_uploader("Guide", type=["md", "markdown", "txt"], key=f"file {form.key}")
    label = "Write the next guide" if editor is None else "Replace my draft"
    if st.button(label, type="primary", disabled=name == FILE and file is None, key=f"start {form.key}"):
        source = sources[name] if file is None else partial(read_small_text, file, 4 * MAX_SOURCE_LENGTH)
        acts.do(form, lambda: replace_draft(store, source(), acts.by, editor))
    if editor is not None:
        ui.note("The project keeps your current draft in its record.")


def _show_other_version(editor: GuideEditor, stored: GuideDraft) -> None:
    st.warning(
        f"Your draft was saved in another window at {stored.saved_at:%H:%M} UTC. Load the saved text. The "
        "text in this window is below, so that you can copy parts of it.",
        icon=":material/sync_problem:",
    )
    if st.button("Load the saved text", type="primary"):
        editor.load(stored)
        st.rerun()
    with st.expander("Your text in this browser window"):
        st.code(editor.unsaved_source, language=None, wrap_lines=True)


def _show_actions(store: Store, acts: Acts, editor: GuideEditor, others: Sequence[GuideDraft]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        ui.download("Download", editor.source, "guide.md")
        with st.popover("Start again from", icon=":material/restart_alt:"):
            _show_start(store, acts, others, editor)
        with st.popover("Discard", icon=":material/delete:"):
            ui.note("Discarding removes the draft from this page. The project keeps its text in the record.")
            if st.button("Discard the draft", key=f"discard {acts.form(GUIDE_FORM).key}"):
                acts.do(acts.form(GUIDE_FORM), lambda: _discard(store, acts))
        ui.note(f"Saved as you write, last at {editor.draft.saved_at:%H:%M:%S} UTC.")
    for other in others:
        ui.note(
            f"{other.author} is also writing a draft, last saved on {other.saved_at:%d %b at %H:%M} UTC. "
            "Start again from that draft to continue with its text."
        )


def _discard(store: Store, acts: Acts) -> str:
    discard_draft(store, acts.by)
    return "The draft has been discarded. The current guide is unchanged."


def _show_form(editor: GuideEditor) -> None:
    guide_fields = read_fields(editor.source)
    options = [FIELDS, TEXT] if guide_fields else [TEXT]
    mode = st.segmented_control(
        "Edit as",
        options,
        default=options[0],
        required=True,
        key=f"mode {len(options)}",
        label_visibility="collapsed",
    )
    if mode == FIELDS and guide_fields:
        show_fields(editor, guide_fields)
        return
    if guide_fields is None:
        ui.note(
            "The front matter cannot be shown as fields, because it has an error. The message next to "
            "the text says where."
        )
    key = f"source {editor.generation}"
    if key not in st.session_state:
        st.session_state[key] = editor.source
    st.text_area(
        "Markdown with YAML front matter",
        height=HEIGHT,
        key=key,
        on_change=_change_source,
        args=(editor, key),
    )


def _change_source(editor: GuideEditor, key: str) -> None:
    source = str(st.session_state[key]).replace("\r\n", "\n")
    editor.change(lambda _: source)


def _show_preview(editor: GuideEditor) -> None:
    problems = find_problems(editor.source)
    if problems:
        _show_problems(problems, editor.source)
    if editor.valid:
        ui.note("Preview for annotators" + (", before the problem" if problems else ""))
        with st.container(height=HEIGHT, border=True):
            show_guide(parse_guide(editor.valid), "preview")


def _show_problems(problems: Sequence[GuideProblem], source: str) -> None:
    lines = source.splitlines()
    sentences = []
    for problem in problems:
        text = describe_problem(problem)
        if problem.line and problem.location and problem.line <= len(lines):
            text = f"Line {problem.line}, {lines[problem.line - 1].strip()[:80]}\n{text}"
        elif problem.line:
            text = f"Line {problem.line}: {text}"
        sentences.append("  \n".join(map(ui.literal, text.splitlines())))
    st.error("\n\n".join(sentences), icon=":material/error:")
