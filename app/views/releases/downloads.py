"""The download of an export: its file is streamed from the folder of the job that made it.

Only who asked for the export gets the file, because a reason for sealed grades is one person's.
"""

from __future__ import annotations

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from app.context import project_store
from curation.errors import CurationError
from curation.jobs.running import Job, find_job
from curation.jobs.uploads import remove_old_results
from curation.people.annotators import require_role
from curation.releases.export.zipped import zip_name

ADDRESS = "/exports"
GONE = "This export is no longer here. Prepare it again on the page Releases."


async def export(request: Request) -> Response:
    """GET: the zip file of an export that this person asked for."""
    try:
        require_role(request.state.account, "lead")
    except CurationError as error:
        return PlainTextResponse(error.found, 403)
    found = await run_in_threadpool(_file, request.path_params["job_id"], request.state.annotator)
    if found is None:
        return PlainTextResponse(GONE, 404)
    return FileResponse(
        found, media_type="application/zip", filename=found.name, headers={"Cache-Control": "no-store"}
    )


def export_file(job: Job) -> Path | None:
    """The file that a job of the kind export has left; None where there is none."""
    path = Path(job.parameters["folder"]) / zip_name(job.parameters["name"], job.parameters["format"])
    return path if job.outcome == "done" and path.is_file() else None


def _file(job_id: str, annotator: str) -> Path | None:
    remove_old_results()
    try:
        with project_store().reading() as cursor:
            job = find_job(cursor, job_id)
    except CurationError:
        return None
    if job.kind != "export" or job.started_by != annotator:
        return None
    return export_file(job)


ROUTES = [Route(f"{ADDRESS}/{{job_id}}", export)]
