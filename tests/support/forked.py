"""What a fork runs that is `goldgrade …`, and what is imported before: see tests/support/started.py."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner

from app.navigation import all_pages
from curation import cli
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
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    with log.open("ab") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    sys.argv = ["goldgrade", *arguments]
    cli.main()
