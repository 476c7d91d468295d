"""Operations that people start: the request with its options, the checks, the work, and the result.

A request is a frozen dataclass. A field that people choose is an `option`, with a label and help. The options
make the command's options (`cli.options`), the page's form (`app.components.forms`) and the parameters of a
job. A field whose type is a dataclass has its own options; one without an `Option` is filled in by the
program.
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
    """How people switch a field off: by a flag of the command, and for a number also by a checkbox on the
    page.
    """

    flag: str
    help: str
    label: str = ""


class Needs(NamedTuple):
    """A condition without which a field changes nothing; `met` checks the condition on all values."""

    why: str
    met: Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Option:
    """A field of a request as people see it.

    Attributes
    ----------
    name, kind, optional, default: of the field, filled in by `options_of`; `kind` is its type without None.
    label: on a page. help: whole sentences, the first of at most 60 characters.
    flag: the command's option, where it is not the field's name.
    choices: all values, where these are few. words: how a page calls them.
    least, most: bounds of a number, for the command, the page and jobs. by: its steps on the page.
    unset: what None means, in words.
    metavar: of the command's value.
    commas: the command takes a list in one value, with commas; else the option is repeated.
    switch: of what is on by default and can be switched off; None and False are off.
    read: what the command makes of a text.
    others: a page takes other values of a list than those that it offers.
    needs: without it another value than the default is refused, by the command and by jobs.
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
        """The allowed range, in words."""
        if self.least is None or self.most is None:
            return f"at most {self.most:,g}" if self.least is None else f"{self.least:,g} or more"
        return f"{self.least:,g} to {self.most:,g}"

    def takes(self, value: float) -> bool:
        """Whether a number is within the bounds."""
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
    named: how the person who asks calls a field.

    Raises
    ------
    InputError: there are such fields, and why.
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
    """Collect the values of a request and of its parts by name, as `filled` takes them."""
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
    InputError: fields that hold something else, numbers out of bounds, or fields that would change nothing.
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

    A result that has figures for people has `tables`, too, as `Table`s.
    """

    @property
    def sentences(self) -> Sequence[str]:
        """Sentences on the work done and the items left out; the first sentence is a summary."""


class PlainResult(NamedTuple):
    """A result with sentences and tables alone."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...] = ()


def tables_of(result: Result) -> Sequence[Table]:
    """Return the tables of a result; empty if it has only sentences."""
    tables: Sequence[Table] = getattr(result, "tables", ())
    return tables


class Operation(NamedTuple):
    """An operation that a command and a page can start.

    Attributes
    ----------
    request: the dataclass of what people ask for.
    run: does it for the person of that name.
    doing: what is going on, as "a pool is being built".
    kept: what an interrupted process leaves.
    check: raises what is known at once to fail, without the work; the request is None if any is meant.
    roles: who may ask for it.
    first: what it does before it says anything itself, as "reading the corpus".
    stage: the stage of the workflow on Home that it belongs to; '' where it only looks.
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
        """Do the work of a job's parameters; return the sentences of the result."""
        request = read_request(self.request, parameters)
        return "\n".join(self.run(store, request, progress, author).sentences)
