"""`goldgrade app`: serve the project to browsers."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from typer import Option

from curation.cli.invocation import project_path
from curation.cli.options import switch
from curation.cli.output import say
from curation.cli.program import app
from curation.core import default_paths, log
from curation.core.errors import RefusedError

BACKUP_VARIABLE = "GOLDGRADE_BACKUP_TO"

Port = Annotated[int, Option(help="Port to listen on. 0 picks a free port.", min=0, max=65535)]


def serve_project(
    project: Path, host: str, port: int, browser: bool, images_from: Sequence[str], backup_to: Path | None
) -> None:
    """Serve a project until Ctrl+C; `browser` opens the app in a browser as soon as the app responds."""
    if find_spec("streamlit") is None:
        way_out = "In the repository's folder: pip install '.[app]'"
        raise RefusedError(
            "The app needs the extra “app”, which has Streamlit and a web server.", command=way_out
        )
    sys.path.insert(0, str(default_paths.HOME))
    from app.serve import serve

    def announce(address: str, sentences: str) -> None:
        say(f"goldgrade is at {address} (stop with Ctrl+C)")
        say(*sentences.splitlines())
        sys.stdout.flush()  # a program that reads this through a pipe waits for the address
        if browser:
            webbrowser.open(address)

    serve(project, host, port, announce, images_from, backup_to)


@app.command("app")
def serve_app(
    port: Port = 8501,
    host: Annotated[
        str, Option(help="Address to listen on; 0.0.0.0 lets other machines connect.")
    ] = "127.0.0.1",
    browser: Annotated[bool, switch("--browser", "Open the page in this machine's browser.")] = False,
    images_from: Annotated[
        list[str] | None,
        Option(
            metavar="HOST",
            help="Host from which browsers may fetch images of documents. Repeatable. The browser fetches "
            "images by https. The host learns who loads an image, and when. Default: no images.",
        ),
    ] = None,
    backup_to: Annotated[
        Path | None,
        Option(
            envvar=BACKUP_VARIABLE,
            file_okay=False,
            exists=True,
            help="Folder for the backups that leads schedule. Default: none.",
        ),
    ] = None,
    log_json: Annotated[bool, switch("--log-json", "Write the log as JSON lines to standard error.")] = False,
) -> None:
    """Serve the app, in which people grade and decide.

    While no lead can sign in, the command prints a link by which the first lead chooses a name and a
    password. Ctrl+C stops the app. The app writes failures and refusals to standard error.

    \b
    Examples:
      goldgrade app
      goldgrade --project data/shop.duckdb app --port 8600 --host 0.0.0.0
      goldgrade app --browser
      goldgrade app --log-json 2>> goldgrade.log
      goldgrade app --backup-to data
      goldgrade app --images-from images.example.org
    """
    if log_json:
        os.environ[log.FORM] = "json"  # not an argument: the processes of jobs write to the same log
    serve_project(project_path(), host, port, browser, images_from or (), backup_to)
