"""Guide, Edit: the forms in which a lead writes the next guide, with a preview as annotators see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import live
from app.grading import show_guide
from app.uploads import read_small_text
from app.views.settings.guide_editor import TITLE_AND_TEXT, GuideEditor, replace_draft
from curation.guides.drafts import MAX_SOURCE_LENGTH, GuideDraft, discard_draft, find_draft, list_drafts
from curation.guides.guide import current_guide
from curation.guides.guide_editing import GuideFields, compose_source, read_fields, write_fields
from curation.guides.guide_text import GuideProblem, find_problems, parse_guide, read_shipped_guides
from curation.store import Store

GUIDE = "guide"
"""The name of the form state that all forms of the editing page share."""
FILE = "A file"
FIELDS, TEXT = "Fields", "Whole text"
AREA = "guide-editor"
HEIGHT = 680
DEFAULT_COLOUR = "#777777"
MAX_GRADES, MAX_EXAMPLES = 10, 20
EXAMPLE = {"query": "Query", "document": "What the document says", "why": "Why the document gets this grade"}
Location = tuple[int | str, ...]
"""The path of a field in the front matter of a guide, such as ("scale", 0, "name")."""
Change = Callable[[GuideFields], GuideFields]
ValueChange = Callable[[GuideFields, Any], GuideFields]
"""A function that changes the guide's fields, given the value of a widget."""


def show(store: Store, acts: Acts, editor: GuideEditor | None) -> None:
    with store.reading() as cursor:
        drafts, stored = list_drafts(cursor), find_draft(cursor, acts.by)
    others = [draft for draft in drafts if draft.author != acts.by]
    if editor is None or stored is None:
        ui.quiet("Annotators keep the current guide while you write. Publish the draft when it is ready.")
        _show_start(store, acts, others, None)
        return
    if stored.revision != editor.draft.revision:
        _show_other_version(editor, stored)
        return
    _show_actions(store, acts, editor, others)
    left, right = st.columns(2, gap="large")
    with left, st.container(key=AREA):
        _show_form(editor)
    live(AREA)
    with right:
        _show_preview(editor)


def _show_start(store: Store, acts: Acts, others: Sequence[GuideDraft], editor: GuideEditor | None) -> None:
    """Ask for a text from which to start; the text replaces the author's draft."""
    with store.reading() as cursor:
        guide = current_guide(cursor)
    sources: dict[str, Callable[[], str]] = {f"Current guide: {guide.title}": lambda: compose_source(guide)}
    for other in others:
        sources[f"The draft of {other.author}, {other.saved_at:%d %b %H:%M} UTC"] = partial(str, other.source)
    for shipped in read_shipped_guides():
        sources[f"Comes with goldgrade: {shipped.title}"] = partial(str, shipped.source)
    form = acts.form(GUIDE)
    name = st.selectbox("Begin with", [*sources, FILE], key=f"begin {form.key}", width=420)
    file = None
    if name == FILE:
        file = st.file_uploader("Guide", type=["md", "markdown", "txt"], key=f"file {form.key}")
    label = "Write the next guide" if editor is None else "Replace my draft"
    if st.button(label, type="primary", disabled=name == FILE and file is None, key=f"start {form.key}"):
        source = sources[name] if file is None else partial(read_small_text, file, 4 * MAX_SOURCE_LENGTH)
        acts.do(form, lambda: replace_draft(store, source(), acts.by, editor))
    if editor is not None:
        ui.quiet("Your text so far stays in the project's record.")


def _show_other_version(editor: GuideEditor, stored: GuideDraft) -> None:
    st.warning(
        f"Your draft was saved in another window at {stored.saved_at:%H:%M} UTC. Load the saved text. The "
        "text of this window is below, so that you can copy parts of it.",
        icon=":material/sync_problem:",
    )
    if st.button("Load the saved text", type="primary"):
        editor.load(stored)
        st.rerun()
    with st.expander("The text of this window"):
        st.code(editor.unsaved_source, language=None, wrap_lines=True)


def _show_actions(store: Store, acts: Acts, editor: GuideEditor, others: Sequence[GuideDraft]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        ui.download("Download", editor.source, "guide.md")
        with st.popover("Start again from", icon=":material/restart_alt:"):
            _show_start(store, acts, others, editor)
        with st.popover("Discard", icon=":material/delete:"):
            ui.quiet("The draft leaves this page. The text of the draft stays in the project's record.")
            if st.button("Discard the draft", key=f"discard {acts.form(GUIDE).key}"):
                acts.do(acts.form(GUIDE), lambda: _discard(store, acts))
        ui.quiet(f"Saved as you write, last at {editor.draft.saved_at:%H:%M:%S} UTC.")
    for other in others:
        ui.quiet(
            f"{other.author} is also writing a draft, last saved on {other.saved_at:%d %b at %H:%M} UTC. "
            "Start again from that draft to go on with its text."
        )


def _discard(store: Store, acts: Acts) -> str:
    discard_draft(store, acts.by)
    return "The draft is discarded. The current guide is unchanged."


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
        _show_fields(editor, guide_fields)
        return
    if guide_fields is None:
        ui.quiet("The front matter cannot be shown as fields. The problem next to the text says where.")
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
        ui.quiet("Preview for annotators" + (", before the problem" if problems else ""))
        with st.container(height=HEIGHT, border=True):
            show_guide(parse_guide(editor.valid), "preview")


def _show_problems(problems: Sequence[GuideProblem], source: str) -> None:
    lines = source.splitlines()
    sentences = []
    for problem in problems:
        text = problem_sentence(problem)
        if problem.line and problem.location and problem.line <= len(lines):
            text = f"Line {problem.line}, {lines[problem.line - 1].strip()[:80]}\n{text}"
        elif problem.line:
            text = f"Line {problem.line}: {text}"
        sentences.append("  \n".join(map(ui.plain, text.splitlines())))
    st.error("\n\n".join(sentences), icon=":material/error:")


def _show_fields(editor: GuideEditor, guide_fields: GuideFields) -> None:
    """Show the fields of a part of the guide; each field reports changes to the editor."""
    parts = [TITLE_AND_TEXT, *range(len(guide_fields.grades))]
    part = st.segmented_control(
        "Part of the guide",
        parts,
        default=editor.part if editor.part in parts else TITLE_AND_TEXT,
        required=True,
        key=f"part {editor.generation}",
        format_func=lambda index: (
            "Title and text" if index == TITLE_AND_TEXT else _name_grade(guide_fields.grades[index])
        ),
        label_visibility="collapsed",
    )
    problems = _problems_by_location(editor.source)
    if part is None or part == TITLE_AND_TEXT:
        _show_title_and_text(_PartForm(editor, problems, ()), guide_fields)
    else:
        _show_grade(_PartForm(editor, problems, ("scale", part)), guide_fields, part)


def problem_sentence(problem: GuideProblem) -> str:
    """Return a problem of the draft as a sentence."""
    return f"{problem.sentence[:1].upper()}{problem.sentence[1:].rstrip('.')}."


class _PartForm:
    """The fields of a part of the guide, with keys, problems, and functions that report changes."""

    def __init__(self, editor: GuideEditor, problems: dict[Location, str], part_location: Location) -> None:
        self.editor, self._problems, self._part_location = editor, problems, part_location

    def field(
        self, draw: Callable[..., object], label: str, value: object, change: ValueChange,
        *location: int | str, has_problem: bool = True, **options: Any,
    ) -> None:  # fmt: skip
        """Show a widget with the initial value `value`; `change` writes a new value into the guide's fields.

        Parameters
        ----------
        draw: the Streamlit function that draws the widget, and `options`, its further arguments.
        location: the path of the field in this part of the guide.
        has_problem: whether to show a problem of the field below the widget.
        """
        key = self.key(*location)
        if key not in st.session_state:
            st.session_state[key] = value
        draw(label, key=key, on_change=_change_field, args=(self.editor, key, change), **options)
        if has_problem:
            self.problem(*location)

    def problem(self, *location: int | str) -> None:
        text = self._problems.get((*self._part_location, *location))
        if text:
            st.html(f'<p class="gs-problem" role="alert">{escape(text)}</p>')

    def button(self, label: str, icon: str, change: Change, part: int, *location: int | str) -> None:
        """Show a button that adds or removes fields."""
        key = f"{self.key(*location)} {label}"
        st.button(label, icon=icon, key=key, on_click=_rearrange, args=(self.editor, change, part))

    def key(self, *location: int | str) -> str:
        return " ".join(map(str, ("guide", self.editor.generation, *self._part_location, *location)))


def _problems_by_location(source: str) -> dict[Location, str]:
    return {problem.location: problem_sentence(problem) for problem in find_problems(source)}


def _change_field(editor: GuideEditor, key: str, change: ValueChange) -> None:
    value = st.session_state[key]
    editor.change(lambda source: _apply_change(source, lambda fields: change(fields, value)))


def _rearrange(editor: GuideEditor, change: Change, part: int) -> None:
    editor.rearrange(lambda source: _apply_change(source, change), part)


def _apply_change(source: str, change: Change) -> str:
    guide_fields = read_fields(source)
    return source if guide_fields is None else write_fields(source, change(guide_fields))


def _name_grade(grade: dict[str, Any]) -> str:
    return f"{grade.get('value', '?')} {grade.get('name') or 'new grade'}"


def _show_title_and_text(form: _PartForm, fields: GuideFields) -> None:
    form.field(st.text_input, "Title", fields.title, lambda fields, new: replace(fields, title=new), "title")
    form.field(
        st.text_area,
        "Text, as Markdown",
        fields.body,
        lambda fields, new: replace(fields, body=new),
        "body",
        height=480,
        help="A line that begins with ## is a heading, one with - an item of a list.",
    )
    if len(fields.grades) < MAX_GRADES:
        form.button("Add a grade", ":material/add:", GuideFields.with_new_grade, len(fields.grades))
    form.problem("scale")


def _show_grade(form: _PartForm, fields: GuideFields, index: int) -> None:
    grade = fields.grades[index]

    def change(name: str) -> ValueChange:
        return lambda fields, value: fields.with_grade(index, **{name: value})

    value = grade.get("value")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bounded = min(100, max(0, value)) if isinstance(value, int) else 0
        limits: dict[str, Any] = {"min_value": 0, "max_value": 100, "width": 120}
        form.field(st.number_input, "Value", bounded, change("value"), "value", has_problem=False, **limits)
        key = str(grade.get("key") or "")[:1]
        form.field(st.text_input, "Key", key, change("key"), "key", has_problem=False, max_chars=1, width=64)
        colour = _valid_colour(grade.get("colour"))
        form.field(st.color_picker, "Colour", colour, change("colour"), "colour", has_problem=False)
    for name in ("value", "key", "colour"):
        form.problem(name)
    form.field(st.text_input, "Name", str(grade.get("name") or ""), change("name"), "name")
    text = str(grade.get("definition") or "")
    form.field(st.text_area, "When to give this grade", text, change("definition"), "definition", height=100)
    _show_examples(form, fields, index)
    form.button(
        "Remove this grade",
        ":material/delete:",
        lambda fields: fields.without_grade(index),
        TITLE_AND_TEXT,
        "grade",
    )


def _show_examples(form: _PartForm, fields: GuideFields, index: int) -> None:
    examples = fields.examples(index)
    for example_index, example in enumerate(examples):
        query = str(example.get("query") or "")
        with st.expander(f"Example: {query[:60] or 'new'}", expanded=not query):
            for name, label in EXAMPLE.items():
                form.field(
                    st.text_input if name == "query" else st.text_area,
                    label,
                    str(example.get(name) or ""),
                    _set_example_value(index, example_index, name),
                    "examples",
                    example_index,
                    name,
                )
            remove = _remove_example(index, example_index)
            form.button("Remove this example", ":material/delete:", remove, index, "examples", example_index)
    if len(examples) < MAX_EXAMPLES:
        new_example = {"query": "", "document": "", "why": ""}
        form.button(
            "Add an example",
            ":material/add:",
            lambda fields: fields.with_grade(index, examples=[*fields.examples(index), new_example]),
            index,
            "examples",
        )


def _set_example_value(index: int, example_index: int, name: str) -> ValueChange:
    def change(fields: GuideFields, value: Any) -> GuideFields:
        examples = fields.examples(index)
        examples[example_index] = {**examples[example_index], name: value}
        return fields.with_grade(index, examples=examples)

    return change


def _remove_example(index: int, example_index: int) -> Change:
    def change(fields: GuideFields) -> GuideFields:
        examples = fields.examples(index)
        del examples[example_index]
        return fields.with_grade(index, examples=examples)

    return change


def _valid_colour(value: object) -> str:
    text = str(value or "")
    return text if len(text) == 7 and text.startswith("#") and text[1:].isalnum() else DEFAULT_COLOUR
