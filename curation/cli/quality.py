"""`goldgrade quality`: what in a round is worth a look, and what could not be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.cli.output import emit, say, show_tables
from curation.cli.program import Json, RoundName, app, project_store

if TYPE_CHECKING:
    from curation.agreement.report.quality import RoundQuality


@app.command()
def quality(name: RoundName, as_json: Json = False) -> None:
    """Show what in a round is worth a look. First comes what could not be checked.

    Agreement near chance, a pace too fast to have read the documents, and each annotator's signals: agreement
    with the others, one grade throughout, and speed.

    \b
    Examples:
      goldgrade quality first
      goldgrade quality first --json
    """
    from curation.agreement.report.quality import round_quality

    found = round_quality(project_store(), name)

    def show() -> None:
        from curation.agreement.report.quality import not_checked_table

        show_tables(not_checked_table(found))
        say(found.conclusion, *(f"- {name or 'The round'}: {one.sentence}" for name, one in found.findings))

    emit(as_json, _as_json(found), show)


def _as_json(round_quality: RoundQuality) -> dict[str, object]:
    findings = [
        {"annotator": name, "about": one.about, "sentence": one.sentence, "evidence": one.evidence}
        for name, one in round_quality.findings
    ]
    return {
        "round": round_quality.round_name,
        "not_checked": round_quality.not_checked,
        "findings": findings,
        "checks": round_quality.checks,
        "conclusion": round_quality.conclusion,
    }
