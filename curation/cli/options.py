"""Command options that are shared by several commands or described by a request's fields.

A field of a request describes its option (`curation.core.request.Option`).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_origin

import typer

from curation.cli.invocation import seal_reason
from curation.core.errors import InputError
from curation.core.request import Option, build_request, find_option, list_options, refuse_invalid

Seed = Annotated[int, typer.Option(help="Seed for the random steps. The result stores the seed.")]
ReleaseName = Annotated[str, typer.Argument(metavar="RELEASE", help="The release's name, such as v1.")]
AnyRelease = Annotated[
    str,
    typer.Argument(metavar="RELEASE", help="A release's name, id or the start of its id, or a packed file."),
]
RoundName = Annotated[str, typer.Argument(metavar="ROUND", help="Round name, such as 2026-q4.")]
Limit = Annotated[
    int,
    typer.Option(
        min=0,
        callback=lambda rows: rows or sys.maxsize,
        help="Number of rows to show; 0 shows all. --json prints all rows.",
    ),
]
Page = Annotated[
    Path | None, typer.Option("--html", help="Also write the output as one HTML file.", show_default="none")
]
Request = TypeVar("Request")
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
UNSET = object()
"""The value of an option that was not given, for which the request has its default."""


def switch(spelling: str, help: str) -> Any:
    """Make an option without a value, such as --dry-run."""
    return typer.Option(spelling, help=help)


def split_list(names: str) -> list[str]:
    """Split a text at its commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


def with_options_of(
    request_class: type[Request], except_fields: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each field of a request, and call it with the request.

    The option --reason of `goldgrade` itself gives the value of a field `reason`.

    Parameters
    ----------
    except_fields: fields for which the command defines options itself; the request has the defaults of these
        fields.
    """
    excluded = (*except_fields, "reason")
    options = [option for option in list_options(request_class) if option.name not in excluded]
    has_reason = any(option.name == "reason" for option in list_options(request_class))

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        command_parameters = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        def call_with_request(**values: Any) -> None:
            given_values = {option.name: _given_value(option, values) for option in options}
            field_values = {name: value for name, value in given_values.items() if value is not UNSET}
            if has_reason:
                field_values["reason"] = seal_reason()
            request = build_request(request_class, field_values)
            refuse_invalid(request, lambda option: option.spelling)
            command(request, **values)

        keyword_parameters = [parameter.replace(kind=KEYWORD_ONLY) for parameter in command_parameters]
        parameters = [*chain.from_iterable(map(_option_parameters, options)), *keyword_parameters]
        call_with_request.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        call_with_request.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        call_with_request.__name__, call_with_request.__doc__ = command.__name__, command.__doc__
        return call_with_request

    return decorate


def option(request_class: type[Any], name: str, **settings: Any) -> Any:
    """Make the option of one field, for a command that defines its options itself."""
    field = find_option(request_class, name)
    return typer.Option(field.spelling, help=field.help, **settings)


def _option_parameters(option: Option) -> list[inspect.Parameter]:
    """Make the parameters of a field: its option, and the flag that switches the field off."""
    switch_parameters = []
    if option.switch is not None:
        flag = switch(option.switch.flag, option.switch.help)
        switch_parameters.append(_keyword_parameter(f"no_{option.name}", bool, False, flag))
        if option.kind is bool:
            return switch_parameters
    spelling = option.spelling
    if option.kind is bool and option.default:
        spelling = f"{spelling}/--no-{spelling.removeprefix('--')}"
    settings: dict[str, Any] = {"help": option.help}
    if option.unset:
        settings["show_default"] = option.unset
    if option.metavar:
        settings["metavar"] = option.metavar
    kind, default = _parameter_type(option)
    parameter = _keyword_parameter(option.name, kind, default, typer.Option(spelling, **settings))
    return [parameter, *switch_parameters]


def _parameter_type(option: Option) -> tuple[Any, Any]:
    """Return the type and the default value that Typer uses for the option of a request's field."""
    if _is_list(option.kind):
        if not option.is_comma_separated:
            return list[str] | None, None
        if option.default is None:
            return str | None, None
        return str, ",".join(option.default)
    is_read_from_text = option.parse or option.kind is datetime or get_origin(option.kind) is Literal
    kind = str if is_read_from_text else option.kind
    return kind | None if option.optional else kind, option.default


def _keyword_parameter(name: str, kind: Any, default: Any, option: Any) -> inspect.Parameter:
    annotation: Any = Annotated[kind, option]
    return inspect.Parameter(name, KEYWORD_ONLY, default=default, annotation=annotation)


def _given_value(option: Option, values: dict[str, Any]) -> Any:
    """Convert the value of an option to the value of its field; `UNSET` for an option that was not given."""
    value = values.pop(option.name, None)
    if option.switch is not None and values.pop(f"no_{option.name}"):
        if value not in (None, option.default):
            raise InputError(f"{option.spelling} has no effect here: {option.switch.flag} switches it off.")
        return False if option.kind is bool else None
    if value is None:
        return UNSET
    if option.kind is datetime:
        return _read_time(option.spelling, value)
    if _is_list(option.kind):
        texts = split_list(value) if option.is_comma_separated else value
        return tuple(map(option.parse, texts)) if option.parse else tuple(texts)
    return option.parse(value) if option.parse else value


def _is_list(kind: Any) -> bool:
    return get_origin(kind) in (Sequence, tuple)


def _read_time(flag: str, text: str) -> datetime:
    from curation.ingest.readers.times import parse_time

    time = parse_time(text)
    if time is None:
        expected = "expected for instance 2026-01-31 or 2026-01-31T08:00"
        raise InputError(f"{flag} {text!r} is not a time; {expected}.")
    return time
