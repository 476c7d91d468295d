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


def _of_people(judgment_import: JudgmentImport) -> ImportOutcome:
    changes = bool(judgment_import.judgments or judgment_import.changed or judgment_import.sealed)
    sentence = "Nothing changed: the project has these judgments."
    if changes:
        where = f" in the round “{judgment_import.round}”" if judgment_import.round else ""
        one, many = "of them answers an open presentation", "of them answer open presentations"
        answered = amount(judgment_import.filled, one, many)
        sentence = f"{amount(judgment_import.judgments, 'new judgment')}{where}, {answered}."
    remarks = _about(judgment_import)
    if judgment_import.marks:
        remarks.append(f"With {amount(judgment_import.marks, 'range')} of evidence.")
    if judgment_import.sealed:
        before = amount(judgment_import.sealed, "judgment is of a pair", "judgments are of pairs")
        remarks.append(
            f"{before} that a release seals: whether the grades are those given before is not said."
        )
    if judgment_import.added_annotators:
        names = ", ".join(judgment_import.added_annotators)
        remarks = [f"Annotators known from imports only, who cannot sign in: {names}.", *remarks]
    figures = {
        "new judgments": judgment_import.judgments,
        "corrections": judgment_import.changed,
        "unchanged": judgment_import.unchanged,
    }
    figures |= {
        "answered on screen since": judgment_import.superseded,
        "queries added": judgment_import.added_queries,
    }
    figures |= {"judged before, sealed": judgment_import.sealed, "pairs added": judgment_import.added_pairs}
    return ImportOutcome(changes, sentence, "judgments", figures, judgment_import.left_out, remarks)


def _of_a_judge(judge_import: JudgeImport) -> ImportOutcome:
    changes = bool(judge_import.judgments or judge_import.changed)
    sentence = f"Nothing changed: the project has these judgments of {judge_import.judge}."
    if changes:
        votes = "It is no vote" if judge_import.judgments == 1 else "They are no votes"
        sentence = (
            f"{amount(judge_import.judgments, 'new judgment')} of the judge {judge_import.judge}. {votes}."
        )
    figures = {
        "new judgments": judge_import.judgments,
        "corrections": judge_import.changed,
        "unchanged": judge_import.unchanged,
    }
    figures |= {"cannot tell": judge_import.cannot_tell, "pairs outside pools": judge_import.outside_pools}
    return ImportOutcome(changes, sentence, "judgments", figures, judge_import.left_out, _about(judge_import))


def decisions(store: Store, request: ImportRequest, progress: Progress, author: str) -> Decided:
    """Decisions by the person who imports them; the options are `reason` and `every_pair`."""
    options, fields = request.options, request.columns_of(DecisionFields)
    reason = str(options.get("reason") or "")
    lines = read_decision_lines(request.file, fields, reason, request.layout, progress)
    return decide_many(store, lines, author, bool(options.get("every_pair")), request.file)


def decisions_outcome(decided: Decided) -> ImportOutcome:
    sentence = f"{amount(decided.decided, 'pair')} decided."
    if not decided.decided:
        sentence = "Nothing changed: no pair of the file was to be decided."
    figures = {"pairs": decided.decided, "lines": decided.decided + sum(decided.left_out.values())}
    remarks = [fields_used(decided.fields)]
    return ImportOutcome(bool(decided.decided), sentence, "lines", figures, decided.left_out, remarks)


def _about(found: JudgmentImport | JudgeImport) -> list[str]:
    unread = [f"Taken without it: {count:,} × {what}." for what, count in found.unread.items()]
    return [fields_used(found.fields), *unread]
