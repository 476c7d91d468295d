"""`goldgrade split`: split the graded queries into parts that share nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Context, Option

from curation.cli.invocation import is_json, project_store, refuse_others, refuse_unused
from curation.cli.options import Page, switch, with_options_of
from curation.cli.output import emit, say, show, write_file
from curation.cli.program import app
from curation.cli.progress import progress_bar, run_operation
from curation.splits.request import SplitRequest

if TYPE_CHECKING:
    from curation.splits.certificate import Certificate


@app.command()
@with_options_of(SplitRequest)
def split(
    request: SplitRequest,
    context: Context,
    dry_run: Annotated[
        bool, switch("--dry-run", "Show the split that would result, with its largest groups. Store nothing.")
    ] = False,
    certificate: Annotated[
        bool, switch("--certificate", "Show the current certificate. Make no split.")
    ] = False,
    release: Annotated[
        str | None,
        Option(help="With --certificate: the split of a release.", show_default="the current split"),
    ] = None,
    page: Page = None,
) -> None:
    """Split the graded queries so that nothing leaks. No text, intent or document ties queries in different
    parts.

    Two queries stay together when their texts are similar or paraphrases, when a document is relevant to
    both, or when documents relevant to them are near-duplicates. --same adds other ties. Whole groups of tied
    queries are assigned so that strata, sources and tags are spread evenly. Queries of a release keep their
    part. --dry-run shows each large group with the chain of ties that made the group; a tie that is not a
    leak can be cut.

    \b
    Examples:
      goldgrade split --dry-run --cut "ipad case~iphone case"
      goldgrade split --part train=0.6 --part dev=0.2 --part test=0.2 --no-paraphrase
      goldgrade split --by-time --same session
      goldgrade split --certificate --release v1 --html certificate.html
    """
    from curation.splits.preview import preview_split

    if certificate:
        reason = "the current split is shown, and no split is made"
        refuse_others(context, reason, "certificate", "release", "page")
        _show_certificate(release, page)
        return
    refuse_unused(
        context, "only a certificate belongs to a stored split; add --certificate", "release", "page"
    )
    if dry_run:
        with progress_bar("split preview") as progress:
            preview = preview_split(project_store(), request, progress)
        show(preview, *preview.details)
        return
    report = run_operation("split", request)
    if not is_json():
        _print_certificate(report.certificate)
    show(report, *report.details, "Next: goldgrade freeze NAME")


def _show_certificate(release: str | None, page: Path | None) -> None:
    from curation.splits.certificate import read_visible_certificate
    from curation.splits.certificate_page import make_certificate_page

    certificate = project_store().read(read_visible_certificate, release)
    if page is not None:
        write_file(page, make_certificate_page(certificate, release))
    emit(certificate, lambda: _print_certificate(certificate, page))


def _print_certificate(certificate: Certificate, page: Path | None = None) -> None:
    """Print the main findings, all sections of the certificate, and the name of the written page."""
    from curation.core.reports.terminal import show_sections
    from curation.splits.certificate_page import build_sections, summarize_certificate

    say(*summarize_certificate(certificate))
    show_sections(build_sections(certificate))
    if page is not None:
        say(f"Wrote the page to {page}.")
