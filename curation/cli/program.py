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
from curation.core.named_project import DEFAULTS, named_project

if TYPE_CHECKING:
    from curation.store import Store

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object alone.")]
Seed = Annotated[int, typer.Option(help="Seed of the random steps; it is stored with the result.")]
ReleaseName = Annotated[str, typer.Argument(metavar="RELEASE", help="The release's name, such as v1.")]
AnyRelease = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE",
        help="A release's name, id or its beginning, or a packed release's file.",
    ),
]
RoundName = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round, such as 2026-q4.")]
Annotators = Annotated[str, typer.Option(help="Names of the annotators, separated by commas.")]
BlindDuplicates = Annotated[
    float, typer.Option(help="Blind duplicates as a share of each annotator's items. 0 to 0.5.")
]
Limit = Annotated[
    int,
    typer.Option(
        min=0, callback=lambda rows: rows or sys.maxsize, help="Rows to show; 0: all. --json has all."
    ),
]
Licence = Annotated[str, typer.Option("--license", help="Licence of the data set, as its owner names it.")]
SealReason = Annotated[
    str | None,
    typer.Option(
        "--reason",
        help="Why sealed grades are wanted, too. Logged with name and time.",
        show_default="they are counted",
    ),
]
Page = Annotated[
    Path | None, typer.Option("--html", help="Also write it as one HTML file.", show_default="none")
]
QueryName = Annotated[str, typer.Argument(metavar="QUERY", help="The query's id or its text.")]
By = Annotated[
    str, typer.Option("--by", help="Who does it. A name whose role allows it, or the command line.")
]
STEPS = {
    "Set up": ["init", "status", "guide", "demo"],
    "Import": ["import", "engine"],
    "Sample queries": ["sample", "query", "tags", "coverage"],
    "Pool documents": ["pool", "contributions", "negatives"],
    "People and rounds": ["annotator", "round", "practice"],
    "Label": ["app"],
    "Agreement": ["agreement", "quality", "consistency", "plan-overlap", "gate"],
    "Adjudicate": ["consensus", "adjudicate"],
    "Split": ["duplicates", "leakage", "split", "certificate"],
    "Release": ["freeze", "verify", "export", "card", "release", "diff"],
    "Evaluate": ["run", "chunks", "evaluate", "judge", "answers"],
    "Keep it current": ["relabel"],
    "Operate": ["backup", "restore", "doctor", "notices"],
}
"""Every command and group, by step of the path."""
QUIET = ("--quiet", "-q")
_project: ContextVar[Path] = ContextVar("project")
kept: ContextVar[str] = ContextVar("kept", default="What the project holds is as it was before.")
"""What is left of a step that is interrupted now."""
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)
_by_pydantic = TyperOption.get_runtime_param  # before it is replaced below


class _Quick:
    """How typer converts a value, without pydantic where it has nothing to do: importing it takes 0.2 s."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value; at once where it is text, a path, of its type or not given."""
        kind = param.type_descriptor.annotation
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if isinstance(value, str) and kind in (str, Path) and not param.type_descriptor.parameter_info.exists:
            return kind(value)
        if isinstance(kind, type) and isinstance(value, kind):
            return value
        if param.multiple and kind in (list[str], list[Path]):
            return [get_args(kind)[0](one) for one in value]
        return _by_pydantic(param).coerce(value, param=param, ctx=ctx)


_quick = _Quick()
for _parameter in (TyperArgument, TyperOption):
    _parameter.get_runtime_param = lambda _: _quick  # type: ignore[assignment, method-assign, return-value]


class Steps(TyperGroup):
    """`goldgrade --help` has the commands by step; options of `goldgrade` itself may be anywhere."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, options_first(args))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # types of a part of typer that is private
        longest = max(len(name) for names in STEPS.values() for name in names)
        for step, names in STEPS.items():
            with formatter.section(step):
                formatter.write_dl(
                    (name.ljust(longest), self.commands[name].get_short_help_str(formatter.width))
                    for name in names
                )


app = typer.Typer(
    name="goldgrade",
    cls=Steps,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def command_group(name: str, help: str) -> typer.Typer:
    """A new group of commands, `goldgrade NAME …`."""
    group = typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name=name)
    return group


def project_path() -> Path:
    """The project file named by --project, $GOLDGRADE_PROJECT or the default."""
    return _project.get()


def is_quiet() -> bool:
    """Whether nothing is to be said of progress."""
    return _quiet.get()


def project_store(with_arrow: bool = True) -> Store:
    """The store of the project that the command line names; short commands need no Arrow."""
    from curation.store import open_store

    if with_arrow:
        from curation.core.arrow import without_pandas

        without_pandas()
    return open_store(project_path())


def query_named(store: Store, name: str) -> str:
    """The id of a query that somebody names by its id or its text."""
    from curation.ingest.importers.queries import query_id_named

    with store.reading() as cursor:
        return query_id_named(cursor, name)


def release_store() -> Store:
    """The store of the project, if there is one: a packed release needs none."""
    from curation.core.arrow import without_pandas
    from curation.store import store_at

    without_pandas()
    return store_at(project_path())


def options_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with the options of `goldgrade` itself before the command."""
    first: list[str] = []
    others: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            return [*first, *others, argument, *rest]
        if argument == "--project":
            first += [argument, *rest[:1]]
            del rest[:1]
        else:
            (first if argument in QUIET or argument.startswith("--project=") else others).append(argument)
    return [*first, *others]


def listed(names: str) -> list[str]:
    """The names in a list that is separated by commas."""
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
            envvar="GOLDGRADE_PROJECT",
            show_default=str(DEFAULTS[0]),
            help="The project's database file.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option(*QUIET, help="Say nothing of the progress of long work.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """From a corpus and a traffic log to a frozen, human-judged gold set for search and RAG.

    \b
    The path:  init → import corpus → import traffic → sample → pool → annotator add → round open
               → app → agreement → adjudicate → split → freeze → verify → export
    """
    _project.set(named_project() if project is None else project)
    _quiet.set(quiet)
