"""Guide, Edit, Fields: the form for a part of the guide, such as a grade, with the problems of its fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from app.views.settings.guide_editor import TITLE_AND_TEXT, GuideEditor
from curation.guides.front_matter import GuideProblem
from curation.guides.guide_editing import GuideFields, read_fields, write_fields
from curation.guides.guide_text import find_problems

DEFAULT_COLOUR = "#777777"
MAX_GRADES, MAX_EXAMPLES = 10, 20
EXAMPLE = {"query": "Query", "document": "What the document says", "why": "Why the document gets this grade"}
Location = tuple[int | str, ...]
"""The path of a field in the front matter of a guide, such as ("scale", 0, "name")."""
Change = Callable[[GuideFields], GuideFields]
ValueChange = Callable[[GuideFields, Any], GuideFields]
"""A function that changes the guide's fields, given the value of a widget."""


def show_fields(editor: GuideEditor, guide_fields: GuideFields) -> None:
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
    problems = _map_problems(editor.source)
    if part is None or part == TITLE_AND_TEXT:
        _show_title_and_text(PartForm(editor, problems, ()), guide_fields)
    else:
        _show_grade(PartForm(editor, problems, ("scale", part)), guide_fields, part)


def describe_problem(problem: GuideProblem) -> str:
    """Return a problem of the draft as a sentence."""
    return f"{problem.sentence[:1].upper()}{problem.sentence[1:].rstrip('.')}."


class PartForm:
    """The fields for a part of the guide, with keys, problems, and functions that report changes."""

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
        """Show a button that adds or removes fields of the guide, such as a grade."""
        key = f"{self.key(*location)} {label}"
        st.button(label, icon=icon, key=key, on_click=_rearrange, args=(self.editor, change, part))

    def key(self, *location: int | str) -> str:
        return " ".join(map(str, ("guide", self.editor.generation, *self._part_location, *location)))


def _map_problems(source: str) -> dict[Location, str]:
    return {problem.location: describe_problem(problem) for problem in find_problems(source)}


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


def _show_title_and_text(form: PartForm, fields: GuideFields) -> None:
    form.field(st.text_input, "Title", fields.title, lambda fields, new: replace(fields, title=new), "title")
    form.field(
        st.text_area,
        "Text, as Markdown",
        fields.body,
        lambda fields, new: replace(fields, body=new),
        "body",
        height=480,
        help="Start a line with ## for a heading, and with - for a list item.",
    )
    if len(fields.grades) < MAX_GRADES:
        form.button("Add a grade", ":material/add:", GuideFields.with_new_grade, len(fields.grades))
    form.problem("scale")


def _show_grade(form: PartForm, fields: GuideFields, index: int) -> None:
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
        colour = _read_colour(grade.get("colour"))
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


def _show_examples(form: PartForm, fields: GuideFields, index: int) -> None:
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


def _read_colour(value: object) -> str:
    text = str(value or "")
    return text if len(text) == 7 and text.startswith("#") and text[1:].isalnum() else DEFAULT_COLOUR
