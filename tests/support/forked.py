"""What forks run, as `goldgrade …` or as a job, and what is imported before: see tests/support/started.py."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner

from app.navigation import all_pages
from curation import cli
from curation.operations.jobs import worker
from tests.support.jobs_inside import work_inside

SERVING = """app.serve curation.cli.app pandas pyarrow.pandas_compat anyio._backends._asyncio
    starlette.applications streamlit.runtime.agent.mcp streamlit.runtime.scriptrunner.magic_funcs
    streamlit.web.bootstrap streamlit.web.server.starlette.starlette_agent_routes uvicorn.loops.asyncio
    uvicorn.lifespan.on uvicorn.protocols.websockets.websockets_sansio_impl"""
"""What is imported late where an app is served."""


def get_ready() -> None:
    """Import what pages need, and look for Streamlit's components among the installed packages, once."""
    for module in SERVING.split():
        import_module(module)
    all_pages()
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
    manifest_scanner.scan_component_manifests()


def run(
    arguments: Sequence[str], log: Path, inside: bool, folder: Path, environment: Mapping[str, str]
) -> None:
    """What a shell does before a command, and the command; `inside` does its jobs on threads."""
    if inside:
        work_inside(pytest.MonkeyPatch())
    _prepare(log, folder, environment)
    sys.argv = ["goldgrade", *arguments]
    cli.main()


def run_code(code: str, log: Path, folder: Path, environment: Mapping[str, str]) -> None:
    """Python as `python -c` runs it."""
    _prepare(log, folder, environment)
    exec(code, {"__name__": "__main__"})
    sys.stdout.flush()


def _prepare(log: Path, folder: Path, environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    with log.open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)


def work(project: Path, asked: Connection, report: Connection) -> None:
    """The worker of a job as `python -m` runs it, with these ends of pipes as its input and output.

    Its errors go to a file beside the project.
    """
    os.setsid()
    os.dup2(asked.fileno(), 0)
    os.dup2(report.fileno(), 1)
    with project.with_suffix(".log").open("ab") as log:
        os.dup2(log.fileno(), 2)
    asked.close()
    report.close()
    sys.argv = ["worker", str(project)]
    del sys.modules[worker.__name__]
    runpy.run_module(worker.__name__, run_name="__main__")
