"""The command line: one command a step. Each reads its arguments, calls one function and prints.

Commands live beside this file by the noun they work on; importing their modules registers them on
`app`. Nothing here computes, and heavy imports wait inside the commands that need them.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import duckdb
import typer

from curation import __version__
from curation.errors import CurationError, InputError
from curation.store import Store, close_all, open_store

app = typer.Typer(
    name="goldset",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
DEFAULT_PROJECT = Path("data/goldset.duckdb")


def project_path(context: typer.Context) -> Path:
    """The project file named by --project, $GOLDSET_PROJECT or the default."""
    return Path(context.find_root().params["project"])


def project_store(context: typer.Context) -> Store:
    """The store of the project that the command line names."""
    return open_store(project_path(context))


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"goldset {__version__}")
        raise typer.Exit


@app.callback()
def goldset(
    project: Annotated[
        Path, typer.Option(envvar="GOLDSET_PROJECT", help="The project's database file.")
    ] = DEFAULT_PROJECT,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """From a corpus and a traffic log to a frozen, human-judged gold set for search and RAG.

    \b
    The path:  init → import corpus → import traffic → sample → pool → annotator add → round open
               → app → agreement → adjudicate → split → freeze → verify → export
    """


def main() -> None:
    """The `goldset` command: 0 done, 1 refused with a sentence on standard error, 2 usage."""
    try:
        _refuse_broken_arguments()
        app()
    except CurationError as error:
        print(f"goldset: {error}", file=sys.stderr)
        sys.exit(1)
    except duckdb.Error as error:
        print(f"goldset: the database refused this step, and nothing was changed: {error}", file=sys.stderr)
        print("This is a mistake in goldset: please report it with the command you ran.", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    finally:
        close_all()


def _refuse_broken_arguments() -> None:
    """Bytes that the terminal's encoding does not know could be stored nowhere."""
    for argument in sys.argv[1:]:
        if not argument.isascii() and any("\udc80" <= letter <= "\udcff" for letter in argument):
            shown = argument.encode("utf-8", "backslashreplace").decode()
            raise InputError(f"The argument {shown!r} is not UTF-8; expected text. Write it anew.")


COMMANDS = (
    "setup",
    "imports",
    "runs",
    "curate",
    "queries",
    "pools",
    "people",
    "rounds",
    "practice",
    "guides",
    "serve",
    "agreement",
    "quality",
    "consensus",
    "plan",
    "leakage",
    "splits",
    "gold",
    "releases",
    "compare",
    "demo",
)  # as --help lists them
for module in COMMANDS:
    import_module(f"curation.cli.{module}")
