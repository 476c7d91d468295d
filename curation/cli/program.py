"""The program `goldgrade`: the group of all its commands, with the options of `goldgrade` itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from curation import __version__
from curation.cli.invocation import JSON, begin_call, list_unread_options
from curation.core.default_paths import DEFAULT_PROJECT, PROJECT_VARIABLE, find_project_file

STEPS = {
    "Set up": ["init", "start", "status", "guide"],
    "Import": ["import"],
    "Sample queries": ["sample", "queries", "tags", "coverage"],
    "Pool documents": ["pool", "negatives"],
    "People and rounds": ["people", "round", "practice"],
    "Label": ["app"],
    "Agreement": ["agreement", "gate"],
    "Adjudicate": ["consensus", "disputes", "decide"],
    "Split": ["split"],
    "Release": ["freeze", "releases", "verify", "export", "diff"],
    "Evaluate": ["baseline", "evaluate", "judge", "answers"],
    "Keep it current": ["relabel"],
    "Operate": ["backup", "restore", "doctor"],
}
"""All commands and groups, by step of the workflow."""
WORKFLOW = {
    "start": "Import documents and a log, and open the first round.",
    "import": "Import a corpus, traffic, queries, runs, judgments and more.",
    "sample": "Draw the queries to judge, without replacement.",
    "pool": "Find the documents to judge for each query.",
    "people": "List, add and change the people of the project.",
    "round": "Open, follow, change and close rounds of labeling.",
    "app": "Serve the app, in which people grade and decide.",
    "agreement": "Show how well annotators agree with others and themselves.",
    "disputes": "List disputed pairs, or queries whose answers differ.",
    "split": "Split the graded queries so that nothing leaks.",
    "freeze": "Freeze the current gold set under a name.",
    "export": "Write a release for other tools, with checksums.",
    "evaluate": "Evaluate systems on a release or on qrels, with intervals.",
    "relabel": "Judge some pairs again each quarter, blind to old grades.",
}
"""The commands of a project's workflow in order, with the first sentences of their help.

`goldgrade --help` prints the sentences and imports no command.
"""
QUIET_FLAGS = ("--quiet", "-q")
VALUE_OPTIONS = ("--project", "--as", "--reason")
"""Options of `goldgrade` itself that take a value."""
_get_pydantic_converter = TyperOption.get_runtime_param  # the original, which is replaced below


class _QuickConversion:
    """Converts command-line values, without pydantic where possible: its import takes 0.2 seconds."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert a value; texts, paths and values of the right type are converted without pydantic."""
        kind = param.type_descriptor.annotation
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if isinstance(value, str) and kind in (str, Path) and not param.type_descriptor.parameter_info.exists:
            return kind(value)
        if isinstance(kind, type) and isinstance(value, kind):
            return value
        if param.multiple and kind in (list[str], list[Path]):
            return [get_args(kind)[0](text) for text in value]
        return _get_pydantic_converter(param).coerce(value, param=param, ctx=ctx)


_quick_conversion = _QuickConversion()
for _parameter in (TyperArgument, TyperOption):
    _parameter.get_runtime_param = lambda _: _quick_conversion  # type: ignore[assignment, method-assign, return-value]


class ProgramGroup(TyperGroup):
    """The group of all commands of `goldgrade`.

    Its help begins with the commands of a workflow. Options of `goldgrade` itself may stand anywhere.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own_options, command = divide_arguments(args)
        return super().parse_args(ctx, [*own_options, *command])

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # types of a part of typer that is private
        with formatter.section("The path of a project"):
            formatter.write_dl(WORKFLOW.items())
        remaining = {step: [name for name in names if name not in WORKFLOW] for step, names in STEPS.items()}
        with formatter.section("All others"):
            formatter.write_dl((step, ", ".join(names)) for step, names in remaining.items() if names)


def _name_unread_options(result: Any, **options: Any) -> None:
    """Return a sentence about the options of `goldgrade` that the command did not read."""
    for option in list_unread_options():
        action = "prints" if option == JSON else "logs"
        print(f"goldgrade: {option} had no effect: this command {action} none.", file=sys.stderr)


app = typer.Typer(
    name="goldgrade",
    cls=ProgramGroup,
    no_args_is_help=True,
    result_callback=_name_unread_options,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def command_group(name: str, help: str) -> typer.Typer:
    """Add a group of commands, `goldgrade NAME …`."""
    group = typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name=name)
    return group


def divide_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the arguments into `goldgrade`'s own options, and the command with its options."""
    own_options: list[str] = []
    command: list[str] = []
    remaining = list(arguments)
    while remaining:
        argument = remaining.pop(0)
        if argument == "--":
            return own_options, [*command, argument, *remaining]
        if argument in VALUE_OPTIONS:
            own_options += [argument, *remaining[:1]]
            del remaining[:1]
        elif argument in (*QUIET_FLAGS, JSON) or argument.partition("=")[0] in VALUE_OPTIONS:
            own_options.append(argument)
        else:
            command.append(argument)
    return own_options, command


def _print_version(is_given: bool) -> None:
    if is_given:
        print(f"goldgrade {__version__}")
        raise typer.Exit


@app.callback()
def goldgrade(
    project: Annotated[
        Path | None,
        typer.Option(envvar=PROJECT_VARIABLE, show_default=str(DEFAULT_PROJECT), help="The project's file."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Act as this person. The person's role must allow the command.",
            show_default="the command line",
        ),
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(
            metavar="WHY", help="Reason, kept in the audit trail. Opening sealed grades requires a reason."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option(*QUIET_FLAGS, help="Do not show the progress of long work.")] = False,
    as_json: Annotated[bool, typer.Option(JSON, help="Print the result as one JSON object.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """From a corpus and a traffic log to a frozen gold set that people judged."""
    begin_call(project or find_project_file(), name, reason, quiet, as_json)
