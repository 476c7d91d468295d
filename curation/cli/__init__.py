"""The command line: a command reads its arguments, calls one function and prints.

Nothing here computes. A command is imported when it is called, and what it needs when it runs.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType

from curation.cli import program
from curation.core.characters import printable
from curation.core.errors import CurationError, InputError
from curation.core.named_project import former_variables

MODULES = {
    "project": ("init", "status", "backup", "restore", "doctor"),
    "import_": ("import",),
    "queries": ("sample", "query", "tags"),
    "pool": ("negatives",),
    "round": ("practice",),
    "agreement": ("gate", "judge"),
    "decide": ("consensus", "disputes"),
    "releases": ("freeze", "verify", "diff"),
    "evaluate": ("baseline",),
}
"""Module → its commands; any other command is in the module of its name."""

STOPPED = "Stopped. Nothing is half-written."
"""What somebody reads who pressed Ctrl+C; what is kept of the step follows."""

GC_THRESHOLDS = (50_000, 5, 5)
"""When garbage is looked for; see gc.set_threshold. Every 700 objects take a sixth of the time of imports."""


def main() -> None:
    """The `goldgrade` command: 0 done, 1 refused with a sentence, 2 usage, 130 interrupted, 143
    terminated.
    """
    former = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGINT)}
    gc.set_threshold(*GC_THRESHOLDS)
    os.umask(0o077)  # a project, its log and every report hold what people wrote
    try:
        _refuse_broken_arguments()
        for sentence in former_variables(os.environ):
            print(f"goldgrade: {sentence}", file=sys.stderr)
        add_commands(sys.argv[1:])
        program.app()
    except CurationError as error:
        print(printable(f"goldgrade: {error}"), file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if not _is_of_the_database(error):
            raise
        print(f"goldgrade: the database refused this step, and nothing was changed: {error}", file=sys.stderr)
        print("This is a mistake in goldgrade: please report it with the command you ran.", file=sys.stderr)
        sys.exit(1)
    finally:
        if jobs := sys.modules.get("curation.operations.jobs.running"):
            jobs.leave_all()
        if store := sys.modules.get("curation.store"):
            store.close_all()
        for number, handler in former.items():
            signal.signal(number, handler)


def add_commands(arguments: Sequence[str] = ()) -> None:
    """Import the modules of the command that the arguments name; all of them where they name none."""
    if "--version" in arguments:
        return
    _, words = program.divided_options(arguments)
    name = next((word for word in words if not word.startswith("-")), "")
    names = [command for commands in program.STEPS.values() for command in commands]
    for command in [name] if name in names else names:
        module = next((module for module, commands in MODULES.items() if command in commands), command)
        import_module(f"curation.cli.{module}")


def _is_of_the_database(error: Exception) -> bool:
    """Whether DuckDB raised it; what never loaded DuckDB raised none of its errors."""
    duckdb = sys.modules.get("duckdb")
    return duckdb is not None and isinstance(error, duckdb.Error)


def _end(number: int, frame: FrameType | None) -> None:
    """End as an error does, so that what is half-written is removed; asked again, end at once."""
    signal.signal(number, signal.SIG_DFL)
    if number == signal.SIGINT:
        print(f"goldgrade: {STOPPED} {program.kept.get()}", file=sys.stderr)
    sys.exit(128 + number)


def _refuse_broken_arguments() -> None:
    """Bytes that the terminal's encoding does not know could be stored nowhere."""
    for argument in sys.argv[1:]:
        if not argument.isascii() and any("\udc80" <= letter <= "\udcff" for letter in argument):
            shown = argument.encode("utf-8", "backslashreplace").decode()
            raise InputError(f"The argument {shown!r} is not UTF-8; expected text. Type it again.")
