"""Guide, editing: a form to edit the draft as fields or as one text, with a preview of the guide for
annotators.

The callback of a field stores the change in memory at once, because Streamlit drops the change if another
click follows. The next run of the page then saves all changes to the project.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from threading import RLock
from typing import Any

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import live
from app.grading import guide_panel
from app.uploads import small_text
from curation.guides.drafts import (
    MAX_SOURCE_LENGTH,
    GuideDraft,
    discard_draft,
    find_draft,
    list_drafts,
    save_draft,
)
from curation.guides.guide import current_guide
from curation.guides.guide_editing import GuideFields, compose_source, read_fields, write_fields
from curation.guides.guide_text import GuideProblem, find_problems, parse_guide, read_shipped_guides
from curation.store import Store

GUIDE = "guide"
"""The name of the form state that all forms of the editing page share."""
_SESSION = "guide editor"
Edit = Callable[[str], str]
FILE = "A file"

FIELDS, TEXT = "Fields", "Whole text"
AREA = "guide-editor"
HEIGHT = 680
WHOLE = -1
"""The part of the guide with title and text; the remaining parts are numbered by grade."""
NO_COLOUR = "#777777"
MAX_GRADES, MAX_EXAMPLES = 10, 20
EXAMPLE = {"query": "Query", "document": "What the document says", "why": "Why the document gets this grade"}
Change = Callable[[GuideFields], GuideFields]
ValueChange = Callable[[GuideFields, Any], GuideFields]
"""A function that changes the guide's fields, given the value of a widget."""


class GuideEditor:
    """The draft of the guide in this session, with changes that are not saved yet.

    Attributes
    ----------
    generation: number of times the text was replaced by other means than its fields; part of the fields'
        keys.
    part: the part of the guide whose fields are shown first.
    valid: the last text without a problem, for the preview; '' if every text had a problem.
    """

    def __init__(self, draft: GuideDraft, part: int) -> None:
        self._lock = RLock()
        self._fields: list[Edit] = []
        self._others: list[Edit] = []
        self.generation = 0
        self.part = part
        self.valid = ""
        self.draft = draft
        self._keep_valid()

    @property
    def source(self) -> str:
        return self.draft.source

    @property
    def wanted(self) -> str:
        """The text of the draft with the changes that are not saved yet."""
        source = self.source
        for edit in (*self._fields, *self._others):
            source = edit(source)
        return source

    def change(self, edit: Edit) -> None:
        """Remember the new value of a field until the changes are saved."""
        self._fields.append(edit)

    def rearrange(self, edit: Edit, part: int) -> None:
        """Remember a change that adds or removes fields; the page then shows this part of the guide."""
        self._others.append(edit)
        self.part = part

    def save(self, store: Store) -> None:
        """Save the remembered changes; raise the same errors as `save_draft`. This function calls no
        Streamlit function, so nothing can interrupt the save.
        """
        with self._lock:
            source = self.wanted
            if source != self.source:
                self.draft = save_draft(store, source, self.draft.author, self.draft.revision)
                self._keep_valid()
            self.generation += bool(self._others)
            self._fields, self._others = [], []

    def load(self, draft: GuideDraft) -> None:
        """Replace the text of the editor, and show the new text in new fields."""
        with self._lock:
            self._fields, self._others = [], []
            self.draft = draft
            self.generation += 1
            self._keep_valid()

    def _keep_valid(self) -> None:
        if not find_problems(self.source):
            self.valid = self.source


def editor_of(store: Store, author: str) -> GuideEditor | None:
    """Return the session's editor of the guide; None if the author has no draft in the project."""
    with store.reading() as cursor:
        draft = find_draft(cursor, author)
    editor: GuideEditor | None = st.session_state.get(_SESSION)
    if draft is None:
        st.session_state.pop(_SESSION, None)
        return None
    if editor is None or editor.draft.author != author:
        editor = st.session_state[_SESSION] = GuideEditor(draft, -1)
    return editor


def replace_draft(store: Store, source: str, author: str, editor: GuideEditor | None) -> None:
    """Replace the author's draft by a text; the previous draft stays stored. This function calls no Streamlit
    function.
    """
    with store.reading() as cursor:
        draft = find_draft(cursor, author)
    saved = save_draft(store, source, author, draft and draft.revision)
    if editor is not None:
        editor.load(saved)


def start(store: Store, acts: Acts, others: Sequence[GuideDraft], editor: GuideEditor | None) -> None:
    """Ask for a text from which to start; the text replaces the author's draft."""
    with store.reading() as cursor:
        guide = current_guide(cursor)
    sources: dict[str, Callable[[], str]] = {
        f"The current guide: {guide.title}": lambda: compose_source(guide)
    }
    for other in others:
        sources[f"The draft of {other.author}, {other.saved_at:%d %b %H:%M} UTC"] = partial(str, other.source)
    for shipped in read_shipped_guides():
        sources[f"Comes with goldgrade: {shipped.title}"] = partial(str, shipped.source)
    form = acts.form(GUIDE)
    name = st.selectbox("Begin with", [*sources, FILE], key=f"begin {form.key}", width=420)
    uploaded = None
    if name == FILE:
        uploaded = st.file_uploader("Guide", type=["md", "markdown", "txt"], key=f"file {form.key}")
    label = "Write the next guide" if editor is None else "Replace my draft"
    if st.button(label, type="primary", disabled=name == FILE and uploaded is None, key=f"start {form.key}"):
        source = (
            partial(small_text, uploaded, 4 * MAX_SOURCE_LENGTH) if uploaded is not None else sources[name]
        )
        acts.do(form, lambda: replace_draft(store, source(), acts.by, editor))
    if editor is not None:
        ui.quiet("Your text so far stays in the project's record.")


def show(store: Store, acts: Acts, editor: GuideEditor | None) -> None:
    with store.reading() as cursor:
        drafts, stored = list_drafts(cursor), find_draft(cursor, acts.by)
    others = [draft for draft in drafts if draft.author != acts.by]
    if editor is None or stored is None:
        ui.quiet("Annotators keep the current guide while you write. Publish the draft when it is ready.")
        start(store, acts, others, None)
        return
    if stored.revision != editor.draft.revision:
        _elsewhere(editor, stored)
        return
    _head(store, acts, editor, others)
    left, right = st.columns(2, gap="large")
    with left, st.container(key=AREA):
        _write(editor)
    live(AREA)
    with right:
        _preview(editor)


def _elsewhere(editor: GuideEditor, stored: GuideDraft) -> None:
    st.warning(
        f"Your draft was saved in another window at {stored.saved_at:%H:%M} UTC. Load the saved text. The "
        "text of this window is below, so that you can copy parts of it.",
        icon=":material/sync_problem:",
    )
    if st.button("Load the saved text", type="primary"):
        editor.load(stored)
        st.rerun()
    with st.expander("The text of this window"):
        st.code(editor.wanted, language=None, wrap_lines=True)


def _head(store: Store, acts: Acts, editor: GuideEditor, others: Sequence[GuideDraft]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        ui.download("Download", editor.source, "guide.md")
        with st.popover("Start again from", icon=":material/restart_alt:"):
            start(store, acts, others, editor)
        with st.popover("Discard", icon=":material/delete:"):
            ui.quiet("The draft leaves this page. The text of the draft stays in the project's record.")
            if st.button("Discard the draft", key=f"discard {acts.form(GUIDE).key}"):
                acts.do(acts.form(GUIDE), lambda: _discarded(store, acts))
        ui.quiet(f"Saved as you write, last at {editor.draft.saved_at:%H:%M:%S} UTC.")
    for other in others:
        ui.quiet(
            f"{other.author} is also writing a draft, last saved on {other.saved_at:%d %b at %H:%M} UTC. "
            "Start again from that draft to go on with its text."
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
        show_fields(editor, form)
        return
    if form is None:
        ui.quiet("The front matter cannot be shown as fields. The problem next to the text says where.")
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
    problems = find_problems(editor.source)
    if problems:
        _problems(problems, editor.source)
    if editor.valid:
        ui.quiet("Preview for annotators" + (", before the problem" if problems else ""))
        with st.container(height=HEIGHT, border=True):
            guide_panel(parse_guide(editor.valid), "preview")


def _problems(problems: Sequence[GuideProblem], source: str) -> None:
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


def show_fields(editor: GuideEditor, form: GuideFields) -> None:
    """Show the fields of a part of the guide; each field reports changes to the editor."""
    places = [WHOLE, *range(len(form.grades))]
    part = st.segmented_control(
        "Part of the guide",
        places,
        default=editor.part if editor.part in places else WHOLE,
        required=True,
        key=f"part {editor.generation}",
        format_func=lambda index: "Title and text" if index == WHOLE else _named(form.grades[index]),
        label_visibility="collapsed",
    )
    problems = _problems_by_place(editor.source)
    if part is None or part == WHOLE:
        _whole(_Form(editor, problems, ()), form)
    else:
        _grade(_Form(editor, problems, ("scale", part)), form, part)


def problem_sentence(problem: GuideProblem) -> str:
    """Return a problem of the draft as a sentence."""
    return f"{problem.sentence[:1].upper()}{problem.sentence[1:].rstrip('.')}."


class _Form:
    """The fields of a part of the guide, with keys, problems, and functions that report changes."""

    def __init__(
        self, editor: GuideEditor, problems: dict[tuple[int | str, ...], str], here: tuple[int | str, ...]
    ) -> None:
        self.editor, self._problems, self._here = editor, problems, here

    def field(
        self, draw: Callable[..., object], label: str, value: object, change: ValueChange,
        *where: int | str, below: bool = True, **more: Any,
    ) -> None:  # fmt: skip
        """Show a widget with the initial value `value`; `change` writes a new value into the guide's fields.

        below: whether to show a problem below the widget.
        """
        key = self.key(*where)
        if key not in st.session_state:
            st.session_state[key] = value
        draw(label, key=key, on_change=_keep_field, args=(self.editor, key, change), **more)
        if below:
            self.problem(*where)

    def problem(self, *where: int | str) -> None:
        text = self._problems.get((*self._here, *where))
        if text:
            st.html(f'<p class="gs-problem" role="alert">{escape(text)}</p>')

    def button(self, label: str, icon: str, change: Change, part: int, *where: int | str) -> None:
        """Show a button that adds or removes fields."""
        key = f"{self.key(*where)} {label}"
        st.button(label, icon=icon, key=key, on_click=_rearrange, args=(self.editor, change, part))

    def key(self, *where: int | str) -> str:
        return " ".join(map(str, ("guide", self.editor.generation, *self._here, *where)))


def _problems_by_place(source: str) -> dict[tuple[int | str, ...], str]:
    return {
        guide_problem.location: problem_sentence(guide_problem) for guide_problem in find_problems(source)
    }


def _keep_field(editor: GuideEditor, key: str, change: ValueChange) -> None:
    value = st.session_state[key]
    editor.change(lambda source: _with(source, lambda fields: change(fields, value)))


def _rearrange(editor: GuideEditor, change: Change, part: int) -> None:
    editor.rearrange(lambda source: _with(source, change), part)


def _with(source: str, change: Change) -> str:
    form = read_fields(source)
    return source if form is None else write_fields(source, change(form))


def _named(grade: dict[str, Any]) -> str:
    return f"{grade.get('value', '?')} {grade.get('name') or 'new grade'}"


def _whole(fields: _Form, form: GuideFields) -> None:
    fields.field(st.text_input, "Title", form.title, lambda form, text: replace(form, title=text), "title")
    fields.field(
        st.text_area,
        "Text, as Markdown",
        form.body,
        lambda form, text: replace(form, body=text),
        "body",
        height=480,
        help="A line that begins with ## is a heading, one with - an item of a list.",
    )
    if len(form.grades) < MAX_GRADES:
        fields.button("Add a grade", ":material/add:", GuideFields.with_new_grade, len(form.grades))
    fields.problem("scale")


def _grade(fields: _Form, form: GuideFields, index: int) -> None:
    grade = form.grades[index]

    def entry(name: str) -> ValueChange:
        return lambda form, text: form.with_grade(index, **{name: text})

    value = grade.get("value")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bounded = min(100, max(0, value)) if isinstance(value, int) else 0
        limits: dict[str, Any] = {"min_value": 0, "max_value": 100, "width": 120}
        fields.field(st.number_input, "Value", bounded, entry("value"), "value", below=False, **limits)
        key = str(grade.get("key") or "")[:1]
        fields.field(st.text_input, "Key", key, entry("key"), "key", below=False, max_chars=1, width=64)
        colour = _colour(grade.get("colour"))
        fields.field(st.color_picker, "Colour", colour, entry("colour"), "colour", below=False)
    for name in ("value", "key", "colour"):
        fields.problem(name)
    fields.field(st.text_input, "Name", str(grade.get("name") or ""), entry("name"), "name")
    text = str(grade.get("definition") or "")
    fields.field(st.text_area, "When to give this grade", text, entry("definition"), "definition", height=100)
    _examples(fields, form, index)
    fields.button(
        "Remove this grade", ":material/delete:", lambda form: form.without_grade(index), WHOLE, "grade"
    )


def _examples(fields: _Form, form: GuideFields, index: int) -> None:
    examples = form.examples(index)
    for number, example in enumerate(examples):
        query = str(example.get("query") or "")
        with st.expander(f"Example: {query[:60] or 'new'}", expanded=not query):
            for name, label in EXAMPLE.items():
                fields.field(
                    st.text_input if name == "query" else st.text_area,
                    label,
                    str(example.get(name) or ""),
                    _entry_of_example(index, number, name),
                    "examples",
                    number,
                    name,
                )
            without = _without_example(index, number)
            fields.button("Remove this example", ":material/delete:", without, index, "examples", number)
    if len(examples) < MAX_EXAMPLES:
        more = {"query": "", "document": "", "why": ""}
        fields.button(
            "Add an example",
            ":material/add:",
            lambda form: form.with_grade(index, examples=[*form.examples(index), more]),
            index,
            "examples",
        )


def _entry_of_example(index: int, number: int, name: str) -> ValueChange:
    def change(form: GuideFields, text: Any) -> GuideFields:
        examples = form.examples(index)
        examples[number] = {**examples[number], name: text}
        return form.with_grade(index, examples=examples)

    return change


def _without_example(index: int, number: int) -> Change:
    def changed(form: GuideFields) -> GuideFields:
        left = [example for at, example in enumerate(form.examples(index)) if at != number]
        return form.with_grade(index, examples=left)

    return changed


def _colour(value: object) -> str:
    text = str(value or "")
    return text if len(text) == 7 and text.startswith("#") and text[1:].isalnum() else NO_COLOUR
