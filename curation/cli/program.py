"""`goldgrade` itself: the Typer app, the project that its options name, and options that commands share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from curation import __version__
from curation.cli.renamed import renamed_sentences
from curation.core.errors import InputError
from curation.core.named_project import DEFAULTS, named_project

if TYPE_CHECKING:
    from curation.store import Store

Seed = Annotated[int, typer.Option(help="Seed of the random steps; it is stored with the result.")]
ReleaseName = Annotated[str, typer.Argument(metavar="RELEASE", help="The release's name, such as v1.")]
AnyRelease = Annotated[
    str,
    typer.Argument(metavar="RELEASE", help="A release's name, id or the start of its id, or a packed file."),
]
RoundName = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round, such as 2026-q4.")]
Limit = Annotated[
    int,
    typer.Option(
        min=0, callback=lambda rows: rows or sys.maxsize, help="Rows to show; 0: all. --json prints all rows."
    ),
]
Licence = Annotated[str, typer.Option("--license", help="Licence of the data set, as its owner names it.")]
Page = Annotated[
    Path | None, typer.Option("--html", help="Also write the output as one HTML file.", show_default="none")
]
QueryName = Annotated[str, typer.Argument(metavar="QUERY", help="The query's id or its text.")]
STEPS = {
    "Set up": ["init", "status", "guide"],
    "Import": ["import"],
    "Sample queries": ["sample", "query", "tags", "coverage"],
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
PATH = (
    *("init", "import", "sample", "pool", "people", "round", "app", "agreement", "disputes"),
    *("split", "freeze", "export", "evaluate", "relabel"),
)
"""The commands of a project's workflow in order, which `goldgrade --help` describes."""
QUIET = ("--quiet", "-q")
JSON = "--json"
VALUED = ("--project", "--as", "--reason")
"""Options of `goldgrade` itself that take a value."""
_project: ContextVar[Path] = ContextVar("project")
kept: ContextVar[str] = ContextVar("kept", default="The contents of the project are unchanged.")
"""The sentence on the work that remains if the command is interrupted now."""
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)
_json: ContextVar[bool] = ContextVar("json", default=False)
_author: ContextVar[dict[str, str]] = ContextVar("author")
"""The values of --as and --reason, if they were given."""
_unread: ContextVar[set[str]] = ContextVar("unread", default=set())  # noqa: B039  replaced by each call
"""The given options of `goldgrade` itself that no command has read yet."""
_by_pydantic = TyperOption.get_runtime_param  # before it is replaced below


class _QuickConversion:
    """Converts values of the command line, without pydantic where possible, because its import takes 0.2
    seconds.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert a value; a text, a path and a value of the right type need no pydantic."""
        kind = param.type_descriptor.annotation
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if isinstance(value, str) and kind in (str, Path) and not param.type_descriptor.parameter_info.exists:
            return kind(value)
        if isinstance(kind, type) and isinstance(value, kind):
            return value
        if param.multiple and kind in (list[str], list[Path]):
            return [get_args(kind)[0](text) for text in value]
        return _by_pydantic(param).coerce(value, param=param, ctx=ctx)


_quick_conversion = _QuickConversion()
for _parameter in (TyperArgument, TyperOption):
    _parameter.get_runtime_param = lambda _: _quick_conversion  # type: ignore[assignment, method-assign, return-value]


class Steps(TyperGroup):
    """The group of all commands; its help begins with the path, and options of `goldgrade` itself may be
    anywhere.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first, others = divided_options(args)
        if not ctx.resilient_parsing and (sentences := renamed_sentences(others)):
            print(*(f"goldgrade: {sentence}" for sentence in sentences), sep="\n", file=sys.stderr)
            raise typer.Exit(2)
        return super().parse_args(ctx, [*first, *others])

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # types of a part of typer that is private
        with formatter.section("The path of a project"):
            formatter.write_dl(
                (name, self.commands[name].get_short_help_str(formatter.width)) for name in PATH
            )
        others = {step: [name for name in names if name not in PATH] for step, names in STEPS.items()}
        with formatter.section("All others"):
            formatter.write_dl((step, ", ".join(names)) for step, names in others.items() if names)


def _say_unread(result: Any, **options: Any) -> None:
    """Name the options of `goldgrade` that the command did not read."""
    for option in sorted(_unread.get()):
        does = "prints" if option == JSON else "logs"
        print(f"goldgrade: {option} changed nothing: this command {does} none.", file=sys.stderr)


app = typer.Typer(
    name="goldgrade",
    cls=Steps,
    no_args_is_help=True,
    result_callback=_say_unread,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def command_group(name: str, help: str) -> typer.Typer:
    """Add a group of commands, `goldgrade NAME …`."""
    group = typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name=name)
    return group


def project_path() -> Path:
    """Return the project file that --project, $GOLDGRADE_PROJECT or the default names."""
    return _project.get()


def is_quiet() -> bool:
    """Tell whether --quiet was given."""
    return _quiet.get()


def is_json() -> bool:
    """Tell whether --json was given, and note that a command has read the option."""
    _unread.get().discard(JSON)
    return _json.get()


def project_store(with_arrow: bool = True) -> Store:
    """Open the project that the command line names; commands that need no Arrow start faster."""
    from curation.store import open_store

    if with_arrow:
        from curation.core.arrow import without_pandas

        without_pandas()
    return open_store(project_path())


def _of_author(option: str) -> str | None:
    """Return the value of --as or --reason, and note that a command has read the option."""
    _unread.get().discard(option)
    return _author.get().get(option)


def actor() -> str:
    """Return the name that --as gives, by default the command line."""
    from curation.store import COMMAND_LINE

    return _of_author("--as") or COMMAND_LINE


def seal_reason() -> str | None:
    """Return the reason to open sealed grades; None without --reason, and sealed grades are left out."""
    return _of_author("--reason")


def stated_reason() -> str:
    """Return the reason for the audit trail; '' without --reason."""
    return seal_reason() or ""


def required_reason() -> str:
    """Return the reason that --reason gives.

    Raises
    ------
    InputError: --reason was not given.
    """
    if reason := stated_reason():
        return reason
    raise InputError('No reason was given, and this is logged with one; add --reason "why".')


def query_named(store: Store, name: str) -> str:
    """Find the id of a query from its id or its text."""
    from curation.ingest.importers.known_queries import query_id_named

    with store.reading() as cursor:
        return query_id_named(cursor, name)


def release_store() -> Store:
    """Open the project if it exists: a packed release needs no project."""
    from curation.core.arrow import without_pandas
    from curation.store import store_at

    without_pandas()
    return store_at(project_path())


def divided_options(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide the arguments into the options of `goldgrade` itself, and the command with its options."""
    first: list[str] = []
    others: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            return first, [*others, argument, *rest]
        if argument in VALUED:
            first += [argument, *rest[:1]]
            del rest[:1]
        else:
            is_own = argument in (*QUIET, JSON) or argument.partition("=")[0] in VALUED
            (first if is_own else others).append(argument)
    return first, others


def split_commas(names: str) -> list[str]:
    """Split a text at its commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"goldgrade {__version__}")
        raise typer.Exit


@app.callback()
def goldgrade(
    project: Annotated[
        Path | None,
        typer.Option(
            envvar="GOLDGRADE_PROJECT", show_default=str(DEFAULTS[0]), help="The project's database file."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Name of the person who acts. The person's role must allow the step.",
            show_default="the command line",
        ),
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(
            metavar="WHY", help="Reason for the audit trail. Sealed grades are opened only with a reason."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option(*QUIET, help="Do not show the progress of long work.")] = False,
    as_json: Annotated[bool, typer.Option(JSON, help="Print only one JSON object.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """From a corpus and a traffic log to a frozen gold set that people judged."""
    _project.set(named_project() if project is None else project)
    _quiet.set(quiet)
    _json.set(as_json)
    given = {"--as": name, "--reason": reason}
    _author.set({option: value for option, value in given.items() if value is not None})
    _unread.set({*_author.get(), *([JSON] if as_json else [])})
