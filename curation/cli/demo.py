"""`goldgrade demo`: a project to try everything on."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from curation.cli.app import Port, serve_project
from curation.cli.options import refuse_unused
from curation.cli.output import emit, progress_bar, say, table
from curation.cli.program import Json, app
from curation.core import shipped
from curation.core.text import amount

FOLDER = Path("data/demo")


@app.command("demo")
def demo_command(
    context: typer.Context,
    port: Port = 8501,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in this machine's browser.")
    ] = True,
    folder: Annotated[Path, typer.Option(help="Folder of the demo project.")] = FOLDER,
    files: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Only write the demo's corpus, log and grades into DIR."),
    ] = None,
    build_only: Annotated[bool, typer.Option("--build-only", help="Build the project and stop.")] = False,
    as_json: Json = False,
) -> None:
    """Build the demo project once, and serve it. Ctrl+C stops it.

    The demo has its own project, in --folder; the global --project does not apply. --json needs --build-only
    and prints what was built.

    \b
    Examples:
      goldgrade demo
      goldgrade demo --port 8600 --no-browser
      goldgrade demo --build-only --json
      goldgrade demo --files data
    """
    if files is not None:
        others = ("port", "browser", "folder", "build_only", "as_json")
        refuse_unused(context, "--files writes files and does nothing else", *others)
        _write_files(files)
        return
    _refuse_ignored_options(context, build_only, as_json)
    from curation.operations.demo.build import build_demo

    def say_step(step: str) -> None:
        if not as_json:
            say(f"demo: {step}")

    with progress_bar() as progress:
        built = build_demo(folder, shipped.SAMPLE, say_step, progress)

    def show() -> None:
        from curation.operations.demo.build import PASSWORD, PEOPLE

        done = f"built in {built.seconds:.0f} s:" if built.built else "found"
        say(f"demo: {done} {built.project}")
        rows = [(name, PASSWORD, role) for name, role in PEOPLE.items()]
        table("Sign in as", ["name", "password", "role"], rows)

    emit(as_json, built, show)
    if not build_only:
        _measure_coverage(built.project)
        serve_project(built.project, "127.0.0.1", port, browser)


def _refuse_ignored_options(context: typer.Context, build_only: bool, as_json: bool) -> None:
    named = context.find_root().get_parameter_source("project")
    if named is not None and named.name == "COMMANDLINE":
        raise typer.BadParameter("the demo makes its own project; use --folder.", param_hint="--project")
    if build_only:
        refuse_unused(context, "--build-only serves nothing", "port", "browser")
    if as_json and not build_only:
        raise typer.BadParameter("prints what was built; add --build-only.", param_hint="--json")


def _measure_coverage(project: Path) -> None:
    """Start the job that embeds the corpus and measures its coverage, if it is possible and was not done."""
    from curation.core.operation import written
    from curation.operations.jobs import jobs_of, last_job, last_jobs, problem
    from curation.queries.coverage import CoverageRequest
    from curation.store import open_store

    store, parameters = open_store(project), written(CoverageRequest())
    with store.reading() as cursor:
        last, measured = last_job(cursor), last_jobs(cursor).get("coverage")
    if (measured is None or measured.outcome is None) and problem(store, "coverage", parameters) is None:
        jobs_of(store).start("coverage", parameters, "lead", last and last.job_id)
        say("demo: embedding the corpus and measuring its coverage, a job that Home shows to the lead")


def _write_files(folder: Path) -> None:
    from curation.operations.demo.stdlib_corpus import write_stdlib_corpus

    folder.mkdir(parents=True, exist_ok=True)
    corpus = write_stdlib_corpus(folder / "stdlib.jsonl")
    others = [Path(shutil.copy(file, folder)).name for file in sorted(shipped.SAMPLE.glob("*.csv"))]
    say(f"Wrote {amount(corpus.documents, 'document')} to {corpus.path}, and {', '.join(others)}.")
