"""The download of the file made by an export job or a backup job.

Only the person who requested a file can download the file, because a reason for opening sealed grades is
personal. The address of a download contains the random name of the folder, which nobody can guess.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from app import ui
from app.context import project_store
from app.page_context import PageContext
from curation.core.errors import CurationError
from curation.operations.backup_schedule import note_download
from curation.operations.jobs.files import remove_old_results
from curation.operations.jobs.stored import Job, find_job
from curation.people.annotators import require_role
from curation.releases.export.pack import name_zip

ADDRESS = "/exports"
GONE = "This file has been deleted. Prepare it again on the page where you made it."
MEDIA_TYPES = {"export": "application/zip", "backup": "application/octet-stream"}


async def download(request: Request) -> Response:
    """GET: return the file of an export or a snapshot to the person who requested it."""
    try:
        require_role(request.state.account, "lead")
    except CurationError as error:
        return PlainTextResponse(error.found, 403)
    job_id, folder = request.path_params["job_id"], request.path_params["folder"]
    result = await run_in_threadpool(_find_result, job_id, folder, request.state.annotator)
    if result is None:
        return PlainTextResponse(GONE, 404)
    file, kind = result
    if kind == "backup" and request.method == "GET":
        await run_in_threadpool(note_download, project_store(), file.name, request.state.annotator)
    headers = {"Cache-Control": "no-store"}
    return FileResponse(file, media_type=MEDIA_TYPES[kind], filename=file.name, headers=headers)


def find_file(job: Job) -> Path | None:
    """Find the file that an export job or a backup job made; None if it does not exist."""
    folder = Path(job.parameters["folder"])
    if job.kind == "export":
        path = folder / name_zip(job.parameters["name"], job.parameters["format"])
    else:
        path = next(folder.glob(f"*{project_store().path.suffix}"), folder)
    return path if job.outcome == "done" and path.is_file() else None


def show_result(context: PageContext, job: Job | None) -> None:
    """Show the result of a person's last export or snapshot, with a link to the file."""
    if job is None or context.is_running(job):
        return
    context._replace(jobs={job.kind: job}).show_result(job.kind)
    file = find_file(job)
    if file is None:
        if job.outcome == "done":
            ui.note("This file has been deleted. Prepare it again.")
        return
    address, size = f"{ADDRESS}/{job.job_id}/{file.parent.name}", file.stat().st_size / 1e6
    st.html(
        f'<p class="gs-download"><a href="{address}" download="{escape(file.name)}">'
        f"Download {escape(file.name)}</a><span>{size:,.1f} MB, kept for an hour</span></p>"
    )


def _find_result(job_id: str, folder: str, annotator: str) -> tuple[Path, str] | None:
    remove_old_results()
    try:
        with project_store().reading() as cursor:
            job = find_job(cursor, job_id)
    except CurationError:
        return None
    is_own = job.kind in MEDIA_TYPES and job.started_by == annotator
    if not is_own or Path(job.parameters["folder"]).name != folder:
        return None
    file = find_file(job)
    return None if file is None else (file, job.kind)


ROUTES = [Route(f"{ADDRESS}/{{job_id}}/{{folder}}", download)]
