"""The options of a command, made from the fields of its request (`curation.core.operation.Option`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import chain
from typing import Annotated, Any, Literal, TypeVar, get_origin

import typer

from curation.cli.program import seal_reason, split_commas
from curation.core.errors import InputError
from curation.core.operation import Option, filled, option_of, options_of, refuse_wrong

Request = TypeVar("Request")
UNSET = object()
"""The value of an option that was not given, for which the request has its default."""


def with_options_of(
    record: type[Request], besides: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each field of a record, and call the command with the request made from
    them.

    A field `reason` is filled by the option --reason of `goldgrade` itself.

    Parameters
    ----------
    besides: fields for which the command defines options itself; the request has the defaults of these
        fields.
    """
    offered = [option for option in options_of(record) if option.name not in (*besides, "reason")]
    has_reason = any(option.name == "reason" for option in options_of(record))

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        further = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        def called(**values: Any) -> None:
            given = {option.name: _given_value(option, values) for option in offered}
            known = {name: value for name, value in given.items() if value is not UNSET}
            if has_reason:
                known["reason"] = seal_reason()
            request = filled(record, known)
            refuse_wrong(request, lambda option: option.spelling)
            command(request, **values)

        keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in further]
        parameters = [*chain.from_iterable(map(_option_parameters, offered)), *keyword]
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        called.__name__, called.__doc__ = command.__name__, command.__doc__
        return called

    return decorate


def option(record: type[Any], name: str, **more: Any) -> Any:
    """Make the option of one field, for a command that defines its options itself."""
    about = option_of(record, name)
    return typer.Option(about.spelling, help=about.help, **more)


def _option_parameters(option: Option) -> list[inspect.Parameter]:
    """Make the option of a field, and the flag that switches the field off."""
    kind, default, flag = option.kind, option.default, option.spelling
    made = []
    if option.switch is not None:
        off = typer.Option(option.switch.flag, help=option.switch.help)
        made.append(_keyword_parameter(f"no_{option.name}", bool, False, off))
        if kind is bool:
            return made
    more: dict[str, Any] = {}
    if kind is bool and default:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    if _is_list(kind) and option.commas:
        kind, default = (str | None, None) if default is None else (str, ",".join(default))
    elif _is_list(kind):
        kind, default = list[str] | None, None
    elif option.read or kind is datetime or get_origin(kind) is Literal:
        kind = str
    if option.optional and not _is_list(option.kind):
        kind = kind | None
    if option.unset:
        more["show_default"] = option.unset
    if option.metavar:
        more["metavar"] = option.metavar
    return [
        _keyword_parameter(option.name, kind, default, typer.Option(flag, help=option.help, **more)),
        *made,
    ]


def _keyword_parameter(name: str, kind: Any, default: Any, option: Any) -> inspect.Parameter:
    annotation: Any = Annotated[kind, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _given_value(option: Option, values: dict[str, Any]) -> Any:
    """Convert the value of an option to the value of its field; `UNSET` for an option that was not given."""
    value = values.pop(option.name, None)
    if option.switch is not None and values.pop(f"no_{option.name}"):
        if value not in (None, option.default):
            raise InputError(f"{option.spelling} would change nothing: {option.switch.flag} switches it off.")
        return False if option.kind is bool else None
    if value is None:
        return UNSET
    if option.kind is datetime:
        return _read_time(option.spelling, value)
    if _is_list(option.kind):
        texts = split_commas(value) if option.commas else value
        return tuple(map(option.read, texts)) if option.read else tuple(texts)
    return option.read(value) if option.read else value


def _is_list(kind: Any) -> bool:
    return get_origin(kind) in (Sequence, tuple)


def _read_time(flag: str, text: str) -> datetime:
    from curation.ingest.readers.times import parse_time

    time = parse_time(text)
    if time is None:
        raise InputError(
            f"{flag} {text!r} is not a time; expected for instance 2026-01-31 or 2026-01-31T08:00."
        )
    return time


def given_flags(context: typer.Context) -> dict[str, str]:
    """Map each parameter that was given on the command line to its option."""
    return {
        parameter.name: parameter.opts[0]
        for parameter in context.command.params
        if parameter.name and _is_given(context, parameter.name)
    }


def refuse_unused(context: typer.Context, why: str, *names: str) -> None:
    """Refuse options that a call of the command would ignore; without names refuse all options.

    Raises
    ------
    InputError: such an option was given. The error names the options and the reason.
    """
    given = [flag for name, flag in given_flags(context).items() if not names or name in names]
    if "reason" in names and seal_reason() is not None:
        given.append("--reason")
    if given:
        raise InputError(f"{', '.join(given)} would change nothing: {why}.")


def refuse_others(context: typer.Context, why: str, *taken: str) -> None:
    """Refuse all options except the options `taken`."""
    if others := [name for name in given_flags(context) if name not in taken]:
        refuse_unused(context, why, *others)


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
