"""The command line: `goldset X` is `cli/x.py`. A command reads its arguments, calls one function and prints.

Nothing here computes. Heavy imports wait inside the commands that need them.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from importlib import import_module
from types import FrameType

import duckdb

from curation.cli import goldset
from curation.errors import CurationError, InputError
from curation.store import close_all
from curation.text import printable

COMMANDS = """
    init status coverage coverage_synthetic sample pool contributions app agreement quality consensus
    consistency gate plan_overlap duplicates split certificate freeze verify export evaluate run judge
    answers card diff demo import_ query tags negatives annotator round practice guide adjudicate leakage
    release relabel backup doctor
""".split()  # importing a module adds its command; --help lists them in this order
for module in COMMANDS:
    import_module(f"curation.cli.{module}")

SELDOM = (50_000, 5, 5)
"""When garbage is looked for; see gc.set_threshold. Every 700 objects take a sixth of the time of imports."""


def main() -> None:
    """The `goldset` command: 0 done, 1 refused with a sentence on standard error, 2 usage, 143 terminated."""
    former = signal.signal(signal.SIGTERM, _end)
    gc.set_threshold(*SELDOM)
    os.umask(0o077)  # a project, its log and every report hold what people wrote
    try:
        _refuse_broken_arguments()
        goldset.app()
    except CurationError as error:
        print(printable(f"goldset: {error}"), file=sys.stderr)
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
        signal.signal(signal.SIGTERM, former)


def _end(number: int, frame: FrameType | None) -> None:
    """End as an error does, so that what is half-written is removed; asked again, end at once."""
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)


def _refuse_broken_arguments() -> None:
    """Bytes that the terminal's encoding does not know could be stored nowhere."""
    for argument in sys.argv[1:]:
        if not argument.isascii() and any("\udc80" <= letter <= "\udcff" for letter in argument):
            shown = argument.encode("utf-8", "backslashreplace").decode()
            raise InputError(f"The argument {shown!r} is not UTF-8; expected text. Type it again.")
