"""The form of a request, with a widget for each of its options (`curation.core.request.Option`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar, get_origin

import streamlit as st

from curation.core.request import Option, build_request, find_unused_options, flatten_request, list_options

Request = TypeVar("Request")
MAX_TEXT_FIELD_LENGTH = 500
NOTHING = ""
"""The entry of a selection list that stands for None, because Streamlit shows None as an empty selection."""


class Form(Generic[Request]):
    """A form that asks for a request's fields and builds the request from the answers.

    Parameters
    ----------
    start: the initial values of the form; None: the defaults of the request.
    key: a part of the keys of the widgets; a different start needs a different key.
    choices: field → choices of the field, if they depend on the project. The form omits a field without
        choices.
    """

    def __init__(
        self,
        record: type[Request],
        start: Request | None = None,
        key: str = "",
        choices: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        self._record = record
        self._key = key
        self._choices = dict(choices or {})
        self._options = {option.name: option for option in list_options(record)}
        self._values: dict[str, Any] = {} if start is None else flatten_request(start)
        self._shown: set[str] = set()

    def ask(self, *names: str) -> None:
        """Show the widgets for these fields of the request, one below the other."""
        for name in names:
            self._shown.add(name)
            option = self._options[name]
            if name not in self._choices or self._choices[name]:
                self._values[name] = self._ask_option(option, self._values.get(name, option.default))

    def ask_rest(self, *excluded: str) -> None:
        """Show the widgets of all fields that the form has not shown yet, except for the excluded ones."""
        self.ask(*(name for name in self._options if name not in self._shown.union(excluded)))

    def value(self, name: str) -> Any:
        """Return the value that a person entered in a field."""
        return self._values[name]

    def make_key(self, name: str) -> str:
        """Return the key of a field's widget; the key depends on the available choices."""
        choices = f" {list(self._choices[name])}" if name in self._choices else ""
        return f"{name} {self._record.__name__} {self._key}{choices}"

    def request(self, **other_values: Any) -> Request:
        """Build the request; `other_values` holds the values of fields without a widget in this form.

        Fields that have no effect get their defaults.
        """
        values = self._values | other_values
        options = find_unused_options(build_request(self._record, values))
        defaults = {option.name: option.default for option in options}
        return build_request(self._record, values | defaults)

    def _ask_option(self, option: Option, value: Any) -> Any:
        base: dict[str, Any] = {"label": option.label, "help": option.help, "key": self.make_key(option.name)}
        choices = self._choices.get(option.name, option.choices)
        if option.kind is bool:
            return st.checkbox(value=value, **base)
        if get_origin(option.kind) in (Sequence, tuple):
            selected = st.multiselect(
                options=choices, default=list(value), accept_new_options=option.accepts_others, **base
            )
            return tuple(selected)
        if choices:
            return _ask_choice(option, choices, value, base)
        if option.kind is datetime:
            return st.datetime_input(value=value, format="YYYY-MM-DD", **base)
        if option.kind is str:
            text = st.text_input(value=value or "", max_chars=MAX_TEXT_FIELD_LENGTH, **base).strip()
            return text or (None if option.optional else option.default)
        if option.switch is None:
            return _ask_number(option, value, base)
        if st.checkbox(option.switch.label, value is not None, key=f"on {base['key']}"):
            return _ask_number(option, option.default if value is None else value, base)
        return None


def _ask_choice(option: Option, choices: Sequence[Any], value: Any, base: Mapping[str, Any]) -> Any:
    entries = [NOTHING] if option.optional else []
    entries = list(dict.fromkeys([*entries, *(NOTHING if choice is None else choice for choice in choices)]))
    entry = NOTHING if value is None else value
    entries += [entry] if entry not in (*entries, NOTHING) and not option.is_comma_separated else []
    selected = st.selectbox(
        options=entries,
        index=entries.index(entry) if entry in entries else 0,
        format_func=lambda choice: describe_value(option, None if choice == NOTHING else choice),
        accept_new_options=option.accepts_others,
        **base,
    )
    return None if selected == NOTHING and option.optional else selected


def describe_value(option: Option, value: Any) -> str:
    """Return an option's value in the words in which a page shows it."""
    return option.words.get(value, str(value or option.unset or "none"))


def _ask_number(option: Option, number: Any, base: Mapping[str, Any]) -> Any:
    """Show a field for a number; an empty field yields None, and an unchanged number keeps all its digits."""
    number_type = option.kind
    low, high = (None if bound is None else number_type(bound) for bound in (option.minimum, option.maximum))
    entered = st.number_input(
        min_value=low,
        max_value=high,
        value=number,
        step=number_type(option.step or (1 if number_type is int else 0.01)),
        placeholder=option.unset or None,
        **base,
    )
    return entered if entered is None or entered == number else round(number_type(entered), 4)
