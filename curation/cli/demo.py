"""`goldset demo`: a project to try everything on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli import app
from curation.cli.output import Json, print_json, progress_bar, say, table
from curation.cli.serve import Port, serve_project

CHECKOUT = Path(__file__).resolve().parents[2]


@app.command("demo")
def demo_command(
    context: typer.Context,
    port: Port = 8501,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in this machine's browser.")
    ] = True,
    folder: Annotated[
        Path | None, typer.Option(help="Where the demo project is kept; default: data/demo of the checkout.")
    ] = None,
    build_only: Annotated[bool, typer.Option("--build-only", help="Build the project and stop.")] = False,
    as_json: Json = False,
) -> None:
    """Build the demo project, once, and serve it; Ctrl+C ends it, and the next start continues.

    The demo has a project of its own, in --folder: the global --project cannot name it. --json is for
    --build-only: it prints what was built.

    \b
    Examples:
      goldset demo
      goldset demo --port 8600 --no-browser
      goldset demo --build-only --json
    """
    _refuse_unheard_options(context, build_only, as_json)
    from curation.demo import PASSWORD, PEOPLE, build_demo

    def tell(step: str) -> None:
        if not as_json:
            say(f"demo: {step}")

    with progress_bar() as progress:
        built = build_demo(folder or CHECKOUT / "data" / "demo", CHECKOUT / "data" / "sample", tell, progress)
    if as_json:
        print_json(built)
    else:
        tell(f"built in {built.seconds:.0f} s: {built.project}" if built.built else f"found {built.project}")
        rows = [(name, PASSWORD, role) for name, role in PEOPLE.items()]
        table("Sign in as", ["name", "password", "role"], rows)
    if not build_only:
        serve_project(built.project, "127.0.0.1", port, browser)


def _refuse_unheard_options(context: typer.Context, build_only: bool, as_json: bool) -> None:
    named = context.find_root().get_parameter_source("project")
    if named is not None and named.name == "COMMANDLINE":
        raise typer.BadParameter("the demo makes a project of its own; use --folder.", param_hint="--project")
    if as_json and not build_only:
        raise typer.BadParameter("tells what was built; give --build-only with it.", param_hint="--json")
