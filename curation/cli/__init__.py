"""The command line: a command reads its arguments, calls one function and prints.

All computation is in other packages. The module of a command is imported when the command is called, and the
modules that the command needs are imported when it runs.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from threading import Timer
from types import FrameType

from curation import GC_THRESHOLDS
from curation.cli import invocation, program
from curation.core.characters import show_controls
from curation.core.errors import CurationError, InputError

MODULES = {
    "agreement": ("gate",),
    "decide": ("disputes",),
    "import_": ("import",),
    "operate": ("backup", "restore", "doctor"),
    "releases": ("verify", "diff"),
}
"""Module → its commands. A command that is absent here is in the module with the name of the command."""

STOPPED = "Stopped. No file or record is half-written."
"""The sentence after Ctrl+C; a sentence on the finished parts of the work follows."""
SECONDS_TO_END = 5.0
"""How long a command may tidy up after a signal."""


def main() -> None:
    """Run the command line; the exit code is 0 done, 1 refused, 2 wrong usage, 130 interrupted, 143
    terminated.
    """
    signals = (signal.SIGTERM, signal.SIGINT)
    received: list[int] = []
    end_command = partial(_end_command, received)
    handlers = {signal_number: signal.signal(signal_number, end_command) for signal_number in signals}
    gc.set_threshold(*GC_THRESHOLDS)
    os.umask(0o077)  # a project, its log and every report hold what people wrote
    try:
        _refuse_broken_arguments()
        add_commands(sys.argv[1:])
        program.app()
    except CurationError as error:
        print(show_controls(f"goldgrade: {error}"), file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if received:  # DuckDB replaces the exit of the handler by an error of its own
            sys.exit(128 + received[0])
        if not _is_database_error(error):
            raise
        print(f"goldgrade: the database reported an error, and nothing was changed: {error}", file=sys.stderr)
        print(
            "This is a bug in goldgrade. Please report the bug, with the command that you ran.",
            file=sys.stderr,
        )
        sys.exit(1)
    finally:
        if jobs := sys.modules.get("curation.operations.jobs.running"):
            jobs.kill_all_jobs()
        if store := sys.modules.get("curation.store"):
            store.close_all()
        for signal_number, handler in handlers.items():
            signal.signal(signal_number, handler)


def add_commands(arguments: Sequence[str] = ()) -> None:
    """Import the module of the command that the arguments name, or all modules without a command.

    The version and the help on `goldgrade` itself need no command.
    """
    if "--version" in arguments or {*arguments} in ({"--help"}, {"-h"}):
        return
    _, words = program.divide_arguments(arguments)
    named_command = next((word for word in words if not word.startswith("-")), "")
    all_commands = [command for commands in program.STEPS.values() for command in commands]
    for command in [named_command] if named_command in all_commands else all_commands:
        module = next((module for module, commands in MODULES.items() if command in commands), command)
        import_module(f"curation.cli.{module}")


def _is_database_error(error: Exception) -> bool:
    """Return whether DuckDB raised an error, without loading DuckDB."""
    duckdb = sys.modules.get("duckdb")
    return duckdb is not None and isinstance(error, duckdb.Error)


def _end_command(received: list[int], signal_number: int, frame: FrameType | None) -> None:
    """End the command as an error does, which removes half-written files; a second signal ends at once.

    DuckDB can lose the exit of a signal handler. The process then gets the second signal from here.
    """
    received.append(signal_number)
    signal.signal(signal_number, signal.SIG_DFL)
    last_resort = Timer(SECONDS_TO_END, os.kill, (os.getpid(), signal_number))
    last_resort.daemon = True
    last_resort.start()
    if signal_number == signal.SIGINT:
        print(f"goldgrade: {STOPPED} {invocation.interruption_note.get()}", file=sys.stderr)
    sys.exit(128 + signal_number)


def _refuse_broken_arguments() -> None:
    """Reject arguments that are not UTF-8, because the project could not store them."""
    for argument in sys.argv[1:]:
        if not argument.isascii() and any("\udc80" <= character <= "\udcff" for character in argument):
            escaped = argument.encode("utf-8", "backslashreplace").decode()
            raise InputError(f"The argument {escaped!r} is not UTF-8 text. Type the argument again.")
