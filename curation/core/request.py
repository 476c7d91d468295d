"""Requests: dataclasses whose fields become a command's options, a page's form and a job's parameters.

A request is a frozen dataclass. A field that people choose has an `Option` with label and help. These options
determine the command's options (`cli.options`), the page's form (`app.components.forms`) and the
parameters of a job. A field whose type is a dataclass adds the options of this dataclass. The program fills
in a field without an `Option`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from math import inf, isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from curation.core.errors import refuse_problems

DEFAULT_MODEL = "all-MiniLM-L6-v2"  # default embedding model of requests
Request = TypeVar("Request")


class Switch(NamedTuple):
    """A switch that turns off a field: on the command line a flag, on the page a checkbox for a number."""

    flag: str
    help: str
    label: str = ""


class Needs(NamedTuple):
    """A condition under which a field of a request has an effect; `met` checks it on all values."""

    why: str
    met: Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Option:
    """The user-facing description of a request's field: label, help, flag and allowed values.

    Attributes
    ----------
    name, kind, optional, default: facts on the field that `list_options` fills in; `kind` is the type without
        None.
    label: text of the field on a page. help: whole sentences, the first of at most 60 characters.
    flag: the command's option, if it differs from the field's name.
    choices: all allowed values, if they are few. words: labels of the choices on a page.
    minimum, maximum: bounds of a number, for the command, the page and jobs.
    step: difference of two neighbouring numbers in the page's input.
    unset: meaning of None, in words.
    metavar: placeholder of the value in the command's help.
    is_comma_separated: the command takes a list in one value, with commas; else the option is repeated.
    switch: the switch of a field that is on by default; None and False mean off.
    parse: function that converts the command's text to the value.
    accepts_others: whether a page also accepts values that its list does not offer.
    needs: condition without which the command and jobs refuse any value except the default.
    """

    label: str
    help: str
    flag: str = ""
    choices: tuple[Any, ...] = ()
    words: Mapping[Any, str] = field(default_factory=dict)
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    unset: str = ""
    metavar: str = ""
    is_comma_separated: bool = False
    switch: Switch | None = None
    parse: Callable[[str], Any] | None = None
    accepts_others: bool = False
    needs: Needs | None = None
    name: str = ""
    kind: Any = None
    optional: bool = False
    default: Any = None

    @property
    def spelling(self) -> str:
        """Return the option as people type it on the command line, such as --min-length."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def bounds(self) -> str:
        """Write the allowed range of a number in words."""
        if self.minimum is None or self.maximum is None:
            return f"at most {self.maximum:,g}" if self.minimum is None else f"{self.minimum:,g} or more"
        return f"{self.minimum:,g} to {self.maximum:,g}"

    def allows(self, number: float) -> bool:
        """Return whether a number is within the option's bounds."""
        if self.minimum is None and self.maximum is None:
            return True
        low = -inf if self.minimum is None else self.minimum
        high = inf if self.maximum is None else self.maximum
        return isfinite(number) and low <= number <= high


def option(default: Any, label: str, help: str, **attributes: Any) -> Any:
    """Make a field of a request that people can set; `attributes` are further attributes of the field's
    `Option`."""
    return field(default=default, metadata={"option": Option(label, help, **attributes)})


Seed = Annotated[int, Option("Seed", "Seed for the random steps. The result stores the seed.")]


def list_options(request_type: Any) -> tuple[Option, ...]:
    """List the options of a request and of the dataclasses in its fields, in the order of the fields."""
    hints = get_type_hints(request_type, include_extras=True)
    options: list[Option] = []
    for request_field in fields(request_type):
        kind, option = hints[request_field.name], request_field.metadata.get("option")
        if get_origin(kind) is Annotated:
            kind, option = get_args(kind)[:2]
        if option is not None:
            kinds = get_args(kind) if get_origin(kind) is UnionType else (kind,)
            facts = {"kind": kinds[0], "optional": NoneType in kinds, "default": _default(request_field)}
            options.append(replace(option, name=request_field.name, **facts))
        elif is_dataclass(kind):
            options += list_options(kind)
    return tuple(options)


def find_option(request_type: Any, name: str) -> Option:
    """Find the option of a field by the field's name."""
    return next(option for option in list_options(request_type) if option.name == name)


def find_unused_options(request: Any) -> list[Option]:
    """List the options of a request that people changed although they have no effect."""
    values = flatten_request(request)
    return [
        option
        for option in list_options(type(request))
        if option.needs is not None and values[option.name] != option.default
        if not option.needs.met(values)
    ]


def _quote_label(option: Option) -> str:
    return f"“{option.label}”"


def refuse_invalid(request: Any, name_option: Callable[[Option], str] = _quote_label) -> None:
    """Reject numbers out of bounds, and fields that would have no effect.

    Parameters
    ----------
    name_option: function that names a field in the words of the command or the page.

    Raises
    ------
    InputError: a number is out of bounds or a field would change nothing; the message gives the reasons.
    """
    problems = describe_out_of_bounds(type(request), flatten_request(request), name_option)
    for option in find_unused_options(request):
        if option.needs:
            problems.append(f"{name_option(option)} has no effect here: {option.needs.why}")
    refuse_problems(problems)


def describe_out_of_bounds(
    request_type: Any, values: Mapping[str, Any], name_option: Callable[[Option], str] = _quote_label
) -> list[str]:
    """Write a sentence for each number of a request that is out of bounds."""
    return [
        f"{name_option(option)}: {values[option.name]:g} is out of range; expected {option.bounds}"
        for option in list_options(request_type)
        if option.kind in (int, float) and values.get(option.name) is not None
        if not option.allows(values[option.name])
    ]


def build_request(request_type: type[Request], values: Mapping[str, Any]) -> Request:
    """Build a request from values by name, including the fields of its dataclasses.

    Absent fields have their defaults.
    """
    hints = get_type_hints(request_type)
    arguments: dict[str, Any] = {}
    for request_field in fields(request_type):  # type: ignore[arg-type]  # it is a dataclass
        name = request_field.name
        if is_dataclass(hints[name]) and name not in values:
            arguments[name] = build_request(hints[name], values)
        elif name in values:
            arguments[name] = values[name]
    return request_type(**arguments)


def flatten_request(request: Any) -> dict[str, Any]:
    """Collect the values of a request and its dataclasses by name, in the form that `build_request` takes."""
    values: dict[str, Any] = {}
    for request_field in fields(request):
        value = getattr(request, request_field.name)
        values |= flatten_request(value) if is_dataclass(value) else {request_field.name: value}
    return values


def dump_request(request: Any) -> dict[str, Any]:
    """Convert a request to the JSON parameters of a job."""
    from pydantic import TypeAdapter

    parameters: dict[str, Any] = TypeAdapter(type(request)).dump_python(request, mode="json")
    return parameters


def read_request(request_type: type[Request], parameters: Mapping[str, Any]) -> Request:
    """Read a request from the result of `dump_request`; absent fields get their defaults.

    Raises
    ------
    InputError: a field has a value of a different type or out of bounds, or would change nothing.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        request = TypeAdapter(request_type).validate_python(_make_tuples(parameters))
    except ValidationError as error:
        refuse_problems([f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()])
        raise
    if is_dataclass(request_type):
        refuse_invalid(request)
    return request


def _make_tuples(value: Any) -> Any:
    """Convert all lists of a JSON value to tuples, because a request has tuples."""
    if isinstance(value, Mapping):
        return {name: _make_tuples(entry) for name, entry in value.items()}
    return tuple(map(_make_tuples, value)) if isinstance(value, list) else value


def _default(request_field: Field[Any]) -> Any:
    if request_field.default_factory is MISSING:
        return request_field.default
    return request_field.default_factory()
