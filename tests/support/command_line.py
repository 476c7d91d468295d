"""The command line in this process: its commands are built once, which takes longer than most of them run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from typer.testing import CliRunner

from docs import make_commands

COMMAND = make_commands.commands()[0][1]
"""`goldgrade` with all its commands, as typer runs it."""


class Done(NamedTuple):
    """How a command ended and what it printed; `output` is both streams in the order of writing."""

    exit_code: int
    stdout: str
    stderr: str
    output: str
    exception: BaseException | None


def invoke(arguments: Sequence[str], input: str = "", catch_exceptions: bool = True) -> Done:
    """Run `goldgrade …`; unless told otherwise, an exception is in the result instead of being raised."""
    exit_code, exception = 0, None
    with CliRunner().isolation(input=input) as streams:
        try:
            COMMAND.main(args=list(arguments), prog_name="goldgrade")
        except SystemExit as ended:
            exit_code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            exception = ended if exit_code else None
        except Exception as raised:
            if not catch_exceptions:
                raise
            exit_code, exception = 1, raised
        sys.stdout.flush()
        sys.stderr.flush()
        texts = [stream.getvalue().decode() for stream in streams]
    return Done(exit_code, *texts, exception)
