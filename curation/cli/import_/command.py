"""The command of an import, from its kind of file: the fields, how the file is read, and what came of it.

A function says what other options the kind has, and returns it as the import's options; its docstring is the
help.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import typer

from curation.cli.import_.engines import WithoutFile
from curation.cli.import_.options import Columns, DryRun, Encoding, NoHeader, format_option, layout_of, target
from curation.cli.output import emit, progress_bar, say, say_dry_run, table
from curation.cli.program import Json
from curation.ingest.picking.kinds import FILE_KINDS
from curation.ingest.readers.columns import FileField
from curation.ingest.readers.formats import FORMATS
from curation.store import COMMAND_LINE

Options = Mapping[str, Any]
SHOWN = 3
"""Usual columns that the help of an option names."""


def import_command(
    kind: str, reads: str, formats: Iterable[str] = FORMATS, without: WithoutFile | None = None
) -> Callable[[Callable[..., Options]], Callable[..., None]]:
    """A decorator that makes the command. `reads` says which files it takes, `without` what else."""
    fields = FILE_KINDS[kind].fields

    def decorate(options_of: Callable[..., Options]) -> Callable[..., None]:
        own = inspect.signature(options_of, eval_str=True).parameters

        def command(**given: Any) -> None:
            context = given.pop("context", None)
            if without is not None and without.is_asked(context, given):
                asked = without.work(given)
                emit(given["as_json"], asked, lambda: say(*asked.sentences))
                return
            from curation.ingest.picking.request import ImportRequest
            from curation.operations.importing.importing import import_file
            from curation.operations.registry import OPERATIONS

            columns = {field.name: given[_parameter(field)] for field in fields}
            layout = [given[name] for name in ("format", "encoding", "columns", "no_header")]
            options = options_of(**{name: given[name] for name in own})
            request = ImportRequest.of(kind, given["path"], columns, options, layout_of(*layout))
            with progress_bar(OPERATIONS["import"]) as progress:
                found = import_file(target(given["dry_run"]), request, progress, COMMAND_LINE)
            emit(given["as_json"], found.record, lambda: _show(found.outcome, given["dry_run"]))

        command.__name__, command.__doc__ = options_of.__name__, options_of.__doc__
        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [
            *([context] if without else ()),
            _path(reads, without),
            *map(_option, fields),
            *own.values(),
            *_reading(formats),
        ]
        required = [parameter for parameter in parameters if parameter.default is inspect.Parameter.empty]
        others = [parameter for parameter in parameters if parameter.default is not inspect.Parameter.empty]
        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in [*required, *others]]
        )
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def _parameter(field: FileField) -> str:
    return f"{field.name}_field"


def _path(reads: str, without: WithoutFile | None) -> inspect.Parameter:
    if without is None:
        annotation = Annotated[str, typer.Argument(help=reads)]
        return inspect.Parameter("path", inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
    reads = f"{reads} {without.path} with {without.flag}."
    return _optional("path", Annotated[str | None, typer.Argument(help=reads, show_default=False)], None)


def _option(field: FileField) -> inspect.Parameter:
    usual = f" Usual: {', '.join(field.usual[:SHOWN])}." if field.usual else ""
    option = typer.Option(field.option, help=f"Field {_holding(field.about)}.{usual}")
    kind = list[str] if field.several else str
    return _optional(_parameter(field), Annotated[kind | None, option], None)


def _holding(about: str) -> str:
    return about if about.startswith("that ") else f"with {about}"


def _reading(formats: Iterable[str]) -> list[inspect.Parameter]:
    """How the file is read, and what is done with it."""
    return [
        _optional("format", Annotated[str | None, format_option(formats)], None),
        _optional("encoding", Encoding, "utf-8"),
        _optional("columns", Columns, None),
        _optional("no_header", NoHeader, False),
        _optional("dry_run", DryRun, False),
        _optional("as_json", Json, False),
    ]


def _optional(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _show(outcome: Any, dry_run: bool) -> None:
    """The sentence of an outcome, its figures, and what was left out or is remarked."""
    say_dry_run(dry_run)
    sentence, *others = outcome.sentences
    say(sentence)
    if outcome.changes:
        table("", list(outcome.figures), [tuple(outcome.figures.values())])
    say(*others)
