"""The imports of judgments and of reviewers' decisions: the calls, and what came of them."""

from __future__ import annotations

from typing import Any

from curation.core.progress import Progress
from curation.core.text import amount
from curation.evaluation.llm_judges.imported import JudgeImport, import_judge
from curation.ingest.importers.decisions import read_decision_lines
from curation.ingest.importers.value_maps import parse_annotator_map, parse_grade_map
from curation.ingest.picking.outcome import ImportOutcome
from curation.ingest.picking.request import ImportRequest
from curation.ingest.readers.fields import DecisionFields, JudgmentFields
from curation.labeling.consensus.adjudication import Decided, decide_many
from curation.labeling.judgments.imported import JudgmentImport, import_judgments
from curation.operations.importing.sentences import fields_used
from curation.store import Store


def judgments(
    store: Store, request: ImportRequest, progress: Progress, author: str
) -> JudgmentImport | JudgeImport:
    """Judgments of people, or of the option `judge`, which is not a person."""
    options = request.options
    fields = request.columns_of(
        JudgmentFields,
        date_order=options.get("date_order"),
        duration_unit=options.get("duration_unit"),
        annotator_map=parse_annotator_map(str(options.get("annotator_map") or "")),
        annotator_columns=dict(options.get("annotator_columns") or {}),
        annotator_name=options.get("annotator") or None,
        grade_given=options.get("grade"),
    )
    written = str(options.get("grade_map") or "").strip()
    common: dict[str, Any] = {
        "grade_map": parse_grade_map(written) if written else None,
        "skip_unknown": bool(options.get("skip_unknown")),
        "progress": progress,
        "author": author,
    }
    judge = options.get("judge")
    if judge is not None:
        return import_judge(store, request.file, str(judge), fields, request.layout, **common)
    common |= {"about": options.get("about"), "round_name": options.get("round")}
    return import_judgments(store, request.file, fields, request.layout, **common)


def judgments_outcome(found: JudgmentImport | JudgeImport) -> ImportOutcome:
    return _of_people(found) if isinstance(found, JudgmentImport) else _of_a_judge(found)


def _of_people(found: JudgmentImport) -> ImportOutcome:
    changes = bool(found.judgments or found.changed or found.sealed)
    sentence = "Nothing changed: the project has these judgments."
    if changes:
        where = f" in the round “{found.round}”" if found.round else ""
        one, many = "of them answers an open presentation", "of them answer open presentations"
        answered = amount(found.filled, one, many)
        sentence = f"{amount(found.judgments, 'new judgment')}{where}, {answered}."
    remarks = _about(found)
    if found.marks:
        remarks.append(f"With {amount(found.marks, 'range')} of evidence.")
    if found.sealed:
        before = amount(found.sealed, "judgment is of a pair", "judgments are of pairs")
        remarks.append(
            f"{before} that a release seals: whether the grades are those given before is not said."
        )
    if found.added_annotators:
        names = ", ".join(found.added_annotators)
        remarks = [f"Annotators known from imports only, who cannot sign in: {names}.", *remarks]
    figures = {"new judgments": found.judgments, "corrections": found.changed, "unchanged": found.unchanged}
    figures |= {"answered on screen since": found.superseded, "queries added": found.added_queries}
    figures |= {"judged before, sealed": found.sealed, "pairs added": found.added_pairs}
    return ImportOutcome(changes, sentence, "judgments", figures, found.left_out, remarks)


def _of_a_judge(found: JudgeImport) -> ImportOutcome:
    changes = bool(found.judgments or found.changed)
    sentence = f"Nothing changed: the project has these judgments of {found.judge}."
    if changes:
        votes = "It is no vote" if found.judgments == 1 else "They are no votes"
        sentence = f"{amount(found.judgments, 'new judgment')} of the judge {found.judge}. {votes}."
    figures = {"new judgments": found.judgments, "corrections": found.changed, "unchanged": found.unchanged}
    figures |= {"cannot tell": found.cannot_tell, "pairs outside pools": found.outside_pools}
    return ImportOutcome(changes, sentence, "judgments", figures, found.left_out, _about(found))


def decisions(store: Store, request: ImportRequest, progress: Progress, author: str) -> Decided:
    """Decisions by the person who imports them; the options are `reason` and `every_pair`."""
    options, fields = request.options, request.columns_of(DecisionFields)
    reason = str(options.get("reason") or "")
    lines = read_decision_lines(request.file, fields, reason, request.layout, progress)
    return decide_many(store, lines, author, bool(options.get("every_pair")), request.file)


def decisions_outcome(found: Decided) -> ImportOutcome:
    sentence = f"{amount(found.decided, 'pair')} decided."
    if not found.decided:
        sentence = "Nothing changed: no pair of the file was to be decided."
    figures = {"pairs": found.decided, "lines": found.decided + sum(found.left_out.values())}
    remarks = [fields_used(found.fields)]
    return ImportOutcome(bool(found.decided), sentence, "lines", figures, found.left_out, remarks)


def _about(found: JudgmentImport | JudgeImport) -> list[str]:
    unread = [f"Taken without it: {count:,} × {what}." for what, count in found.unread.items()]
    return [fields_used(found.fields), *unread]
