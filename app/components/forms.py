"""The form of a request: a widget for each option (`curation.core.operation.Option`), chosen by the option's
type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar, get_origin

import streamlit as st

from curation.core.operation import Option, filled, flat, options_of, unused

Request = TypeVar("Request")
MAX_TEXT_LENGTH = 500
"""Maximum number of characters in a text field of a form."""
NOTHING = ""
"""The entry of a selection list that stands for None, because Streamlit shows None as an empty selection."""


class Form(Generic[Request]):
    """A form that asks for the fields of a request and builds the request from the answers.

    Parameters
    ----------
    start: the initial values of the form; None: the defaults of the request.
    key: a part of the keys of the widgets; a different start needs a different key.
    offered: field → choices of the field, if they depend on the project. The form omits a field without
        choices.
    """

    def __init__(
        self,
        record: type[Request],
        start: Request | None = None,
        key: str = "",
        offered: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        self._record = record
        self._key = key
        self._offered = dict(offered or {})
        self._options = {option.name: option for option in options_of(record)}
        self._values: dict[str, Any] = {} if start is None else flat(start)
        self._asked: set[str] = set()

    def ask(self, *names: str) -> None:
        """Show the widgets of these fields, one below the other."""
        for name in names:
            self._asked.add(name)
            option = self._options[name]
            if name not in self._offered or self._offered[name]:
                self._values[name] = self._widget(option, self._values.get(name, option.default))

    def rest(self, *besides: str) -> None:
        """Show the widgets of all fields that the form has not shown yet, except the given fields."""
        self.ask(*(name for name in self._options if name not in self._asked.union(besides)))

    def value(self, name: str) -> Any:
        """Return the value that a person entered in a field."""
        return self._values[name]

    def key_of(self, name: str) -> str:
        """Return the key of a field's widget; the key depends on the offered choices."""
        offered = f" {list(self._offered[name])}" if name in self._offered else ""
        return f"{name} {self._record.__name__} {self._key}{offered}"

    def request(self, **by_hand: Any) -> Request:
        """Build the request; `by_hand` holds the values of fields without a widget in this form.

        Fields that have no effect get their defaults.
        """
        values = self._values | by_hand
        without = {option.name: option.default for option in unused(filled(self._record, values))}
        return filled(self._record, values | without)

    def _widget(self, option: Option, now: Any) -> Any:
        common: dict[str, Any] = {"label": option.label, "help": option.help, "key": self.key_of(option.name)}
        offered = self._offered.get(option.name, option.choices)
        if option.kind is bool:
            return st.checkbox(value=now, **common)
        if get_origin(option.kind) in (Sequence, tuple):
            return tuple(
                st.multiselect(options=offered, default=list(now), accept_new_options=option.others, **common)
            )
        if offered:
            return _chosen(option, offered, now, common)
        if option.kind is datetime:
            return st.datetime_input(value=now, format="YYYY-MM-DD", **common)
        if option.kind is str:
            text = st.text_input(value=now or "", max_chars=MAX_TEXT_LENGTH, **common).strip()
            return text or (None if option.optional else option.default)
        if option.switch is not None and not st.checkbox(
            option.switch.label, now is not None, key=f"on {common['key']}"
        ):
            return None
        return _number(option, option.default if now is None and option.switch else now, common)


def _chosen(option: Option, offered: Sequence[Any], now: Any, common: Mapping[str, Any]) -> Any:
    choices = [NOTHING, *offered] if option.optional else list(offered)
    choices = list(dict.fromkeys(NOTHING if choice is None else choice for choice in choices))
    now = NOTHING if now is None else now
    choices += [now] if now not in (*choices, NOTHING) and not option.commas else []
    chosen = st.selectbox(
        options=choices,
        index=choices.index(now) if now in choices else 0,
        format_func=lambda choice: word_of(option, None if choice == NOTHING else choice),
        accept_new_options=option.others,
        **common,
    )
    return None if chosen == NOTHING and option.optional else chosen


def word_of(option: Option, value: Any) -> str:
    """Return the text that a page shows for a value of an option."""
    return option.words.get(value, str(value or option.unset or "none"))


def _number(option: Option, now: Any, common: Mapping[str, Any]) -> Any:
    """Ask for a number; an empty field gives None, and an unchanged number keeps all digits."""
    kind = option.kind
    low, high = (None if bound is None else kind(bound) for bound in (option.least, option.most))
    value = st.number_input(
        min_value=low,
        max_value=high,
        value=now,
        step=kind(option.by or (1 if kind is int else 0.01)),
        placeholder=option.unset or None,
        **common,
    )
    return value if value is None or value == now else round(kind(value), 4)
