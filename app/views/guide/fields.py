"""Guide, fields: title and text, and one grade at a time; what is wrong is said at its field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from app.views.guide.editor import GuideEditor
from curation.guides.fields import GuideFields, read_fields, write_fields
from curation.guides.front_matter import GuideProblem
from curation.guides.parse_guide import guide_problems

WHOLE = -1
"""The part with title and text; others are places of grades."""
NO_COLOUR = "#777777"
MOST_GRADES, MOST_EXAMPLES = 10, 20
EXAMPLE = {"query": "Query", "document": "What the document says", "why": "Why it gets this grade"}
Change = Callable[[GuideFields], GuideFields]


def show(editor: GuideEditor, form: GuideFields) -> None:
    """Draw the fields of one part; each tells the editor of its changes."""
    places = [WHOLE, *range(len(form.grades))]
    part = st.segmented_control(
        "Part of the guide",
        places,
        default=editor.part if editor.part in places else WHOLE,
        required=True,
        key=f"part {editor.generation}",
        format_func=lambda place: "Title and text" if place == WHOLE else _named(form.grades[place]),
        label_visibility="collapsed",
    )
    problems = _problems(editor.source)
    if part is None or part == WHOLE:
        _whole(_Form(editor, problems, ()), form)
    else:
        _grade(_Form(editor, problems, ("scale", part)), form, part)


def sentence(problem: GuideProblem) -> str:
    """A problem as a sentence."""
    return f"{problem.sentence[:1].upper()}{problem.sentence[1:].rstrip('.')}."


class _Form:
    """The fields of one part: their keys, what is wrong at each, and how they tell of changes."""

    def __init__(
        self, editor: GuideEditor, problems: dict[tuple[int | str, ...], str], here: tuple[int | str, ...]
    ) -> None:
        self.editor, self._problems, self._here = editor, problems, here

    def field(
        self, draw: Callable[..., object], label: str, held: object, change: Callable[[Any], Change],
        *place: int | str, below: bool = True, **more: Any,
    ) -> None:  # fmt: skip
        """A field that holds `held` at first; `change` makes of its value what it does to the fields.

        below: what is wrong is said below it.
        """
        key = self.key(*place)
        if key not in st.session_state:
            st.session_state[key] = held
        draw(label, key=key, on_change=_keep, args=(self.editor, key, change), **more)
        if below:
            self.problem(*place)

    def problem(self, *place: int | str) -> None:
        said = self._problems.get((*self._here, *place))
        if said:
            st.html(f'<p class="gs-problem" role="alert">{escape(said)}</p>')

    def button(self, label: str, icon: str, change: Change, part: int, *place: int | str) -> None:
        """A button that brings other fields."""
        key = f"{self.key(*place)} {label}"
        st.button(label, icon=icon, key=key, on_click=_rearrange, args=(self.editor, change, part))

    def key(self, *place: int | str) -> str:
        return " ".join(map(str, ("guide", self.editor.generation, *self._here, *place)))


def _problems(source: str) -> dict[tuple[int | str, ...], str]:
    return {guide_problem.location: sentence(guide_problem) for guide_problem in guide_problems(source)}


def _keep(editor: GuideEditor, key: str, change: Callable[[Any], Change]) -> None:
    wanted = change(st.session_state[key])
    editor.change(lambda source: _with(source, wanted))


def _rearrange(editor: GuideEditor, change: Change, part: int) -> None:
    editor.rearrange(lambda source: _with(source, change), part)


def _with(source: str, change: Change) -> str:
    form = read_fields(source)
    return source if form is None else write_fields(source, change(form))


def _named(grade: dict[str, Any]) -> str:
    return f"{grade.get('value', '?')} {grade.get('name') or 'new grade'}"


def _whole(fields: _Form, form: GuideFields) -> None:
    fields.field(
        st.text_input, "Title", form.title, lambda said: lambda form: replace(form, title=said), "title"
    )
    fields.field(
        st.text_area,
        "Text, as Markdown",
        form.body,
        lambda said: lambda form: replace(form, body=said),
        "body",
        height=480,
        help="A line that begins with ## is a heading, one with - an item of a list.",
    )
    if len(form.grades) < MOST_GRADES:
        fields.button("Add a grade", ":material/add:", GuideFields.with_new_grade, len(form.grades))
    fields.problem("scale")


def _grade(fields: _Form, form: GuideFields, place: int) -> None:
    grade = form.grades[place]

    def entry(name: str) -> Callable[[Any], Change]:
        return lambda said: lambda form: form.with_grade(place, **{name: said})

    value = grade.get("value")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        held = min(100, max(0, value)) if isinstance(value, int) else 0
        limits: dict[str, Any] = {"min_value": 0, "max_value": 100, "width": 120}
        fields.field(st.number_input, "Value", held, entry("value"), "value", below=False, **limits)
        key = str(grade.get("key") or "")[:1]
        fields.field(st.text_input, "Key", key, entry("key"), "key", below=False, max_chars=1, width=64)
        colour = _colour(grade.get("colour"))
        fields.field(st.color_picker, "Colour", colour, entry("colour"), "colour", below=False)
    for name in ("value", "key", "colour"):
        fields.problem(name)
    fields.field(st.text_input, "Name", str(grade.get("name") or ""), entry("name"), "name")
    said = str(grade.get("definition") or "")
    fields.field(st.text_area, "When to give it", said, entry("definition"), "definition", height=100)
    _examples(fields, form, place)
    fields.button(
        "Remove this grade", ":material/delete:", lambda form: form.without_grade(place), WHOLE, "grade"
    )


def _examples(fields: _Form, form: GuideFields, place: int) -> None:
    found = form.examples(place)
    for number, example in enumerate(found):
        query = str(example.get("query") or "")
        with st.expander(f"Example: {query[:60] or 'new'}", expanded=not query):
            for name, label in EXAMPLE.items():
                fields.field(
                    st.text_input if name == "query" else st.text_area,
                    label,
                    str(example.get(name) or ""),
                    _entry_of_example(place, number, name),
                    "examples",
                    number,
                    name,
                )
            without = _without_example(place, number)
            fields.button("Remove this example", ":material/delete:", without, place, "examples", number)
    if len(found) < MOST_EXAMPLES:
        more = {"query": "", "document": "", "why": ""}
        fields.button(
            "Add an example",
            ":material/add:",
            lambda form: form.with_grade(place, examples=[*form.examples(place), more]),
            place,
            "examples",
        )


def _entry_of_example(place: int, number: int, name: str) -> Callable[[Any], Change]:
    def change(said: Any) -> Change:
        def changed(form: GuideFields) -> GuideFields:
            examples = form.examples(place)
            examples[number] = {**examples[number], name: said}
            return form.with_grade(place, examples=examples)

        return changed

    return change


def _without_example(place: int, number: int) -> Change:
    def changed(form: GuideFields) -> GuideFields:
        left = [example for at, example in enumerate(form.examples(place)) if at != number]
        return form.with_grade(place, examples=left)

    return changed


def _colour(value: object) -> str:
    said = str(value or "")
    return said if len(said) == 7 and said.startswith("#") and said[1:].isalnum() else NO_COLOUR
