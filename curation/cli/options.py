"""The options of a command, made from the fields of its request (`curation.core.operation.Option`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import chain
from typing import Annotated, Any, Literal, TypeVar, get_origin

import typer

from curation.cli.program import listed
from curation.core.errors import InputError
from curation.core.operation import OptionField, filled, option_of, options_of, refuse_wrong

Request = TypeVar("Request")
UNSET = object()
"""What was not given; the request then has its default."""


def with_options_of(
    record: type[Request], besides: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each field of the record, and the request that is made of them.

    Parameters
    ----------
    besides: fields that the command has options of its own for; the request has their defaults.
    """
    offered = [found for found in options_of(record) if found.name not in besides]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        def called(**values: Any) -> None:
            given = {found.name: _given(found, values) for found in offered}
            known = {name: value for name, value in given.items() if value is not UNSET}
            request = filled(record, known)
            refuse_wrong(request, lambda found: flag_of(record, found.name))
            command(request, **values)

        keyword = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
        parameters = [*chain.from_iterable(map(_parameters, offered)), *keyword]
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        called.__name__, called.__doc__ = command.__name__, command.__doc__
        return called

    return decorate


def option(record: type[Any], name: str, **more: Any) -> Any:
    """The option of one field, for a command that has it by hand."""
    found = option_of(record, name)
    return typer.Option(found.flag or _flag(name), help=found.help, **more)


def flag_of(record: type[Any], name: str) -> str:
    """How a field is spelled on the command line."""
    return option_of(record, name).flag or _flag(name)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _parameters(option_field: OptionField) -> list[inspect.Parameter]:
    """The option of a field, and the flag that switches it off."""
    option, kind, default = option_field.option, option_field.kind, option_field.default
    made = []
    if option.switch is not None:
        off = typer.Option(option.switch.flag, help=option.switch.help)
        made.append(_keyword(f"no_{option_field.name}", bool, False, off))
        if kind is bool:
            return made
    flag = option.flag or _flag(option_field.name)
    more: dict[str, Any] = {}
    if kind is bool and default:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    if _is_list(kind) and option.commas:
        kind, default = (str | None, None) if default is None else (str, ",".join(default))
    elif _is_list(kind):
        kind, default = list[str] | None, None
    elif option.read or kind is datetime or get_origin(kind) is Literal:
        kind = str
    if option_field.optional and not _is_list(option_field.kind):
        kind = kind | None
    if option.unset:
        more["show_default"] = option.unset
    if option.metavar:
        more["metavar"] = option.metavar
    return [_keyword(option_field.name, kind, default, typer.Option(flag, help=option.help, **more)), *made]


def _keyword(name: str, kind: Any, default: Any, option: Any) -> inspect.Parameter:
    annotation: Any = Annotated[kind, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _given(option_field: OptionField, values: dict[str, Any]) -> Any:
    """A value of the command line as the record takes it, or `UNSET`."""
    option, value = option_field.option, values.pop(option_field.name, None)
    if option.switch is not None and values.pop(f"no_{option_field.name}"):
        if value not in (None, option_field.default):
            flag = option.flag or _flag(option_field.name)
            raise InputError(f"{flag} would change nothing: {option.switch.flag} switches it off.")
        return False if option_field.kind is bool else None
    if value is None:
        return UNSET
    if option_field.kind is datetime:
        return _time(option.flag or _flag(option_field.name), value)
    if _is_list(option_field.kind):
        texts = listed(value) if option.commas else value
        return tuple(map(option.read, texts)) if option.read else tuple(texts)
    return option.read(value) if option.read else value


def _is_list(kind: Any) -> bool:
    return get_origin(kind) in (Sequence, tuple)


def _time(flag: str, text: str) -> datetime:
    from curation.ingest.readers.times import parse_time

    time = parse_time(text)
    if time is None:
        raise InputError(
            f"{flag} {text!r} is not a time; expected for instance 2026-01-31 or 2026-01-31T08:00."
        )
    return time


def given_flags(context: typer.Context) -> dict[str, str]:
    """Parameter → the option by which it was given on the command line."""
    return {
        parameter.name: parameter.opts[0]
        for parameter in context.command.params
        if parameter.name and _is_given(context, parameter.name)
    }


def refuse_unused(context: typer.Context, why: str, *names: str) -> None:
    """Refuse options that this call would ignore, all of them without names.

    Raises
    ------
    InputError: with the options that were given, and why they would change nothing.
    """
    given = [flag for name, flag in given_flags(context).items() if not names or name in names]
    if given:
        raise InputError(f"{', '.join(given)} would change nothing: {why}.")


def refuse_by_without(context: typer.Context, reason: str | None) -> None:
    """Refuse --by where it would be logged with a reason alone, and none was given."""
    if reason is None:
        refuse_unused(context, "it is logged with a reason alone; add --reason", "by")


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
