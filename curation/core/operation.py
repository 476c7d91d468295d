"""Operations that people start: the request with its options, the checks, the work, and the result.

A request is a frozen dataclass. A field that people choose is an `option`, with a label and help. These
options determine the command's options (`cli.options`), the page's form (`app.components.forms`) and the
parameters of a job. A field whose type is a dataclass adds the options of this dataclass. The program fills
in a field without an `Option`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from math import inf, isfinite
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from curation.core.errors import refuse_problems
from curation.core.progress import Progress

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Cursor

    from curation.core.reports.page import Table

DEFAULT_MODEL = "all-MiniLM-L6-v2"
Record = TypeVar("Record")


class Switch(NamedTuple):
    """A switch that turns a field off: a flag of the command, and for a number also a checkbox of a page."""

    flag: str
    help: str
    label: str = ""


class Needs(NamedTuple):
    """A condition under which a field has an effect; `met` checks the condition on all values."""

    why: str
    met: Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Option:
    """The description of a request's field for people: label, help, flag and allowed values.

    Attributes
    ----------
    name, kind, optional, default: facts on the field that `options_of` fills in; `kind` is the type without
        None.
    label: text of the field on a page. help: whole sentences, the first of at most 60 characters.
    flag: the command's option, if it differs from the field's name.
    choices: all allowed values, if they are few. words: labels of the choices on a page.
    least, most: bounds of a number, for the command, the page and jobs. by: step between two numbers in the
        page's input.
    unset: meaning of None, in words.
    metavar: placeholder of the value in the command's help.
    commas: the command takes a list in one value, with commas; else the option is repeated.
    switch: the switch of a field that is on by default; None and False mean off.
    read: function that converts the command's text to the value.
    others: whether a page also accepts values that its list does not offer.
    needs: condition without which the command and jobs refuse any value except the default.
    """

    label: str
    help: str
    flag: str = ""
    choices: tuple[Any, ...] = ()
    words: Mapping[Any, str] = field(default_factory=dict)
    least: float | None = None
    most: float | None = None
    by: float | None = None
    unset: str = ""
    metavar: str = ""
    commas: bool = False
    switch: Switch | None = None
    read: Callable[[str], Any] | None = None
    others: bool = False
    needs: Needs | None = None
    name: str = ""
    kind: Any = None
    optional: bool = False
    default: Any = None

    @property
    def spelling(self) -> str:
        """The spelling of the command's option."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def bounds(self) -> str:
        """The allowed range of a number, in words."""
        if self.least is None or self.most is None:
            return f"at most {self.most:,g}" if self.least is None else f"{self.least:,g} or more"
        return f"{self.least:,g} to {self.most:,g}"

    def takes(self, value: float) -> bool:
        """Return whether a number is within the option's bounds."""
        if self.least is None and self.most is None:
            return True
        low, high = (-inf if self.least is None else self.least), (inf if self.most is None else self.most)
        return isfinite(value) and low <= value <= high


def option(default: Any, label: str, help: str, **more: Any) -> Any:
    """Make a field of a request that people choose; `more` has further attributes of the `Option`."""
    return field(default=default, metadata={"option": Option(label, help, **more)})


Seed = Annotated[int, Option("Seed", "Seed of the random steps; it is stored with the result.")]


def options_of(record: Any) -> tuple[Option, ...]:
    """List the options of a request and of its parts, in the order of the fields."""
    hints = get_type_hints(record, include_extras=True)
    options: list[Option] = []
    for part in fields(record):
        kind, option = hints[part.name], part.metadata.get("option")
        if get_origin(kind) is Annotated:
            kind, option = get_args(kind)[:2]
        if option is not None:
            kinds = get_args(kind) if get_origin(kind) is UnionType else (kind,)
            about = {"kind": kinds[0], "optional": NoneType in kinds, "default": _default(part)}
            options.append(replace(option, name=part.name, **about))
        elif is_dataclass(kind):
            options += options_of(kind)
    return tuple(options)


def _default(part: Any) -> Any:
    return part.default if part.default_factory is MISSING else part.default_factory()


def option_of(record: Any, name: str) -> Option:
    """Find the option of a field."""
    return next(option for option in options_of(record) if option.name == name)


def unused(request: Any) -> list[Option]:
    """List the options that differ from their default although they would change nothing."""
    values = flat(request)
    return [
        option
        for option in options_of(type(request))
        if option.needs is not None and values[option.name] != option.default
        if not option.needs.met(values)
    ]


def _quoted(option: Option) -> str:
    return f"“{option.label}”"


def refuse_wrong(request: Any, named: Callable[[Option], str] = _quoted) -> None:
    """Refuse numbers out of bounds, and fields that would change nothing.

    Parameters
    ----------
    named: function that names a field in the words of the command or the page.

    Raises
    ------
    InputError: a number is out of bounds or a field would change nothing; the message gives the reasons.
    """
    idle = [
        f"{named(option)} would change nothing: {option.needs.why}"
        for option in unused(request)
        if option.needs
    ]
    refuse_problems([*out_of_bounds(type(request), flat(request), named), *idle])


def out_of_bounds(
    record: Any, values: Mapping[str, Any], named: Callable[[Option], str] = _quoted
) -> list[str]:
    """Write a sentence for each number of a request that is out of bounds."""
    return [
        f"{named(option)}: {values[option.name]:g} is out of range; expected {option.bounds}"
        for option in options_of(record)
        if option.kind in (int, float) and values.get(option.name) is not None
        if not option.takes(values[option.name])
    ]


def filled(record: type[Record], values: Mapping[str, Any]) -> Record:
    """Make a request with these values for its fields and those of its parts; other fields have their
    defaults.
    """
    hints = get_type_hints(record)
    given: dict[str, Any] = {}
    for part in fields(record):  # type: ignore[arg-type]  # it is a dataclass
        if is_dataclass(hints[part.name]) and part.name not in values:
            given[part.name] = filled(hints[part.name], values)
        elif part.name in values:
            given[part.name] = values[part.name]
    return record(**given)


def flat(request: Any) -> dict[str, Any]:
    """Collect the values of a request and of its parts by name, in the form that `filled` takes."""
    values: dict[str, Any] = {}
    for part in fields(request):
        value = getattr(request, part.name)
        values |= flat(value) if is_dataclass(value) else {part.name: value}
    return values


def written(request: Any) -> dict[str, Any]:
    """Convert a request to the JSON parameters of a job."""
    from pydantic import TypeAdapter

    parameters: dict[str, Any] = TypeAdapter(type(request)).dump_python(request, mode="json")
    return parameters


def read_request(record: type[Record], parameters: Mapping[str, Any]) -> Record:
    """Read a request that `written` wrote; fields that are absent have their defaults.

    Raises
    ------
    InputError: a field has a value of a different type or out of bounds, or would change nothing.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        request = TypeAdapter(record).validate_python(parameters)
    except ValidationError as error:
        refuse_problems([f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()])
        raise
    if is_dataclass(record):
        refuse_wrong(request)
    return request


class Result(Protocol):
    """The result of an operation, for a terminal, a page and JSON (`cli.output.show`, `app.ui`).

    A result with figures for people also has the attribute `tables`, a sequence of `Table`s.
    """

    @property
    def sentences(self) -> Sequence[str]:
        """Sentences on the work done and the items left out; the first sentence is a summary."""


class PlainResult(NamedTuple):
    """A result that consists only of sentences and tables."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...] = ()


def tables_of(result: Result) -> Sequence[Table]:
    """Return the tables of a result, or an empty sequence for a result with only sentences."""
    tables: Sequence[Table] = getattr(result, "tables", ())
    return tables


class Operation(NamedTuple):
    """An operation that a command and a page can start.

    Attributes
    ----------
    request: the dataclass of the request.
    run: function that does the work of a request for the named person.
    doing: the work in progress in words, such as "a pool is being built".
    kept: sentence on the results that remain after an interruption.
    check: function that raises errors that are known before the work; a request of None stands for any
        request.
    roles: roles of people who may start the operation.
    first: name of the first step, until the work reports its progress, such as "reading the corpus".
    stage: the workflow stage on Home that the operation belongs to; '' for an operation that only reads.
    """

    request: type[Any]
    run: Callable[[Any, Any, Progress, str], Result]
    doing: str
    kept: str
    check: Callable[[Cursor, Any], None] = lambda _cursor, _request: None
    roles: tuple[str, ...] = ("lead",)
    first: str = "reading the project"
    stage: str = ""

    def refuse(self, cursor: Cursor, parameters: Mapping[str, Any] | None) -> None:
        """Raise the errors of the work that can be known without doing the work."""
        self.check(cursor, None if parameters is None else read_request(self.request, parameters))

    def work(self, store: Any, parameters: Mapping[str, Any], progress: Progress, author: str) -> str:
        """Do the work that a job's parameters describe; return the sentences of the result."""
        request = read_request(self.request, parameters)
        return "\n".join(self.run(store, request, progress, author).sentences)
