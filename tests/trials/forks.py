"""Work in a fork: a process that starts in milliseconds, because its parent has imported everything.

The parent itself must never open a database: DuckDB's threads do not follow into a fork.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

Found = TypeVar("Found")


def in_a_fork(work: Callable[[], Found]) -> Found:
    """What the work returns, done in a fork that ends with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer: tuple[bool, Any] = (True, work())
        except BaseException:
            answer = (False, traceback.format_exc())
        with os.fdopen(writing, "wb") as out:
            pickle.dump(answer, out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        said = answers.read()
    os.waitpid(child, 0)
    done, value = pickle.loads(said) if said else (False, "the fork ended without an answer")
    if not done:
        raise RuntimeError(value)
    return value


class Victim:
    """A fork at work that says in lines what was acknowledged, until it is killed."""

    def __init__(self, work: Callable[[Callable[[str], None]], None]) -> None:
        self._reading, writing = os.pipe()
        self._said = b""
        self.process = os.fork()
        if not self.process:
            try:
                work(lambda line: os.write(writing, f"{line}\n".encode()) and None)
            except BaseException:
                os.write(writing, f"failed {traceback.format_exc()!r}\n".encode()[-4000:])
            os._exit(0)
        os.close(writing)

    def wait_for(self, lines: int, seconds: float) -> None:
        """Wait until so many lines are there, or the process has ended, or the time is over."""
        late = time.monotonic() + seconds
        while self._said.count(b"\n") < lines and (rest := late - time.monotonic()) > 0:
            if select.select([self._reading], [], [], rest)[0]:
                said = os.read(self._reading, 65536)
                if not said:
                    return
                self._said += said

    def ended(self) -> list[str]:
        """Wait until it has ended by itself; what it had said."""
        with os.fdopen(self._reading, "rb") as rest:
            self._said += rest.read()
        os.waitpid(self.process, 0)
        return self._said.decode().splitlines()

    def kill(self) -> list[str]:
        """Kill it with SIGKILL; what it had said."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        with os.fdopen(self._reading, "rb") as rest:
            self._said += rest.read()
        return self._said.decode().splitlines()
