"""`goldset demo`: a project to try everything on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.app import Port, serve_project
from curation.cli.goldset import Json, app
from curation.cli.options import refuse_unused
from curation.cli.output import emit, progress_bar, say, table
from curation.text import amount

if TYPE_CHECKING:
    from curation.demo.build import Demo

CHECKOUT = Path(__file__).resolve().parents[2]


@app.command("demo")
def demo_command(
    context: typer.Context,
    port: Port = 8501,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in this machine's browser.")
    ] = True,
    folder: Annotated[
        Path | None, typer.Option(help="Folder of the demo project. Default: data/demo of the checkout.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Only write the demo's corpus as JSON lines to FILE.")
    ] = None,
    build_only: Annotated[bool, typer.Option("--build-only", help="Build the project and stop.")] = False,
    as_json: Json = False,
) -> None:
    """Build the demo project once, and serve it. Ctrl+C stops it.

    The demo has its own project, in --folder; the global --project does not apply. --json needs --build-only
    and prints what was built.

    \b
    Examples:
      goldset demo
      goldset demo --port 8600 --no-browser
      goldset demo --build-only --json
      goldset demo --corpus stdlib.jsonl
    """
    if corpus is not None:
        others = ("port", "browser", "folder", "build_only", "as_json")
        refuse_unused(context, "--corpus writes the corpus and does nothing else", *others)
        from curation.demo.stdlib_corpus import write_stdlib_corpus

        say(f"Wrote {amount(write_stdlib_corpus(corpus).documents, 'document')} to {corpus}.")
        return
    _refuse_ignored_options(context, build_only, as_json)
    from curation.demo.build import build_demo

    def say_step(step: str) -> None:
        if not as_json:
            say(f"demo: {step}")

    with progress_bar() as progress:
        built = build_demo(
            folder or CHECKOUT / "data" / "demo", CHECKOUT / "data" / "sample", say_step, progress
        )
    emit(as_json, built, lambda: _show_built(built))
    if not build_only:
        serve_project(built.project, "127.0.0.1", port, browser)


def _refuse_ignored_options(context: typer.Context, build_only: bool, as_json: bool) -> None:
    named = context.find_root().get_parameter_source("project")
    if named is not None and named.name == "COMMANDLINE":
        raise typer.BadParameter("the demo makes its own project; use --folder.", param_hint="--project")
    if build_only:
        refuse_unused(context, "--build-only serves nothing", "port", "browser")
    if as_json and not build_only:
        raise typer.BadParameter("prints what was built; add --build-only.", param_hint="--json")


def _show_built(built: Demo) -> None:
    from curation.demo.build import PASSWORD, PEOPLE

    done = f"built in {built.seconds:.0f} s:" if built.built else "found"
    say(f"demo: {done} {built.project}")
    rows = [(name, PASSWORD, role) for name, role in PEOPLE.items()]
    table("Sign in as", ["name", "password", "role"], rows)
