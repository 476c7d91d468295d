"""The plan for an import of judgments, in which each judgment answers one presentation.

All functions are pure: they do not read or write the database.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.errors import InputError, refuse_problems
from curation.core.spans import Spans
from curation.guides.guide import Guide
from curation.ingest.importers.evidence_cells import WAY_OUT, locate_evidence, select_evidence_in_text
from curation.ingest.importers.imported_judgment import ImportedJudgment, JudgmentKey
from curation.ingest.request_options import CURRENT, EARLIER
from curation.labeling import judging
from curation.store import Presentation, Query

_Judgments = Mapping[JudgmentKey, ImportedJudgment]
TEXTS = (CURRENT, EARLIER)
"""Choices for a document whose text changed: the file's judgments are about the current or the earlier
text."""
EVIDENCE_WAY_OUT = (
    "The entry `evidence:` of the labeling guide says which grades take evidence, and whether "
    "evidence is required: `goldgrade guide use FILE` makes a new guide current."
)


class ImportInputs(NamedTuple):
    """The stored rows that an import plan needs, about the annotators, pairs and documents in the file.

    bodies: version → body of the documents with evidence.
    marks: presentation → characters that the annotator marked last.
    """

    guides: dict[str, Guide]
    guide: Guide
    documents: list[tuple[str, str]]
    annotators: list[str]
    queries: list[tuple[str]]
    pairs: list[tuple[str, str]]
    presentations: list[tuple[object, ...]]
    moved: list[tuple[str, str, str, str]]
    keys: list[tuple[str, str, str, int]]
    positions: list[tuple[str, int]]
    round_exists: bool
    sealed: Collection[str]
    bodies: Mapping[str, str] = MappingProxyType({})
    marks: Mapping[str, Spans] = MappingProxyType({})


class _Target(NamedTuple):
    """The stored presentation that an imported judgment answers."""

    presentation_id: str
    next_revision: int
    answered: bool
    grade: int | None
    labeling: bool
    guide_hash: str
    closed: bool
    content_hash: str
    same_pass: bool


_Targets = dict[JudgmentKey, _Target]
_TargetsByKey = dict[JudgmentKey, list[_Target]]


@dataclass
class ImportPlan:
    """The rows that an import of judgments will write.

    Attributes
    ----------
    counts: numbers of judgments, keyed by the field names of `JudgmentImport`.
    absent_quotes: number of evidence quotes left out because they are not in the text.
    """

    guide_hash: str
    round_exists: bool
    queries: list[Query] = field(default_factory=list)
    annotators: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    presentations: list[Presentation] = field(default_factory=list)
    events: list[judging.JudgmentEvent] = field(default_factory=list)
    marks: list[judging.EvidenceMark] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    absent_quotes: int = 0


def plan_import(
    judgments: _Judgments,
    inputs: ImportInputs,
    round_id: str,
    new_queries: Sequence[Query],
    about: str | None = None,
    skip_unknown: bool = False,
    is_pass: bool = False,
) -> ImportPlan:
    """Plan all rows that an import will write, without database access.

    Parameters
    ----------
    about: one of `TEXTS`; None refuses judgments that may be about either text.
    is_pass: the file is a named pass, so that without `about` its judgments are about the current text, even
        if the same annotators read an older text in other rounds.
    skip_unknown: leave out evidence quotes that are not in the text.
    """
    hashes = dict(inputs.documents)
    _refuse_unknown(judgments, inputs.guide, hashes)
    stored_queries = {row[0] for row in inputs.queries}
    plan = ImportPlan(
        guide_hash=inputs.guide.guide_hash,
        round_exists=inputs.round_exists,
        queries=[query for query in new_queries if query.query_id not in stored_queries],
        annotators=sorted({key.annotator for key in judgments} - set(inputs.annotators)),
        pairs=sorted({key.pair for key in judgments} - set(inputs.pairs)),
    )
    stored = _group_presentations(judgments, inputs.presentations)
    targets = _choose_stored_targets(judgments, stored, inputs, about)
    _refuse_moved(judgments, targets, inputs.moved)
    new_keys = [key for key in judgments if key not in targets]
    about_text = CURRENT if is_pass and not about else about
    texts = {key: _choose_text(stored[key], hashes[key.document_id], about_text) for key in new_keys}
    plan.presentations = _make_presentations(round_id, texts, inputs, stored)
    for key, row in zip(new_keys, plan.presentations, strict=True):
        unanswered = (row.presentation_id, 0, False, None, False, plan.guide_hash, False)
        targets[key] = _Target(*unanswered, row.content_hash, same_pass=True)
    evidence = _locate_evidence(plan, judgments, targets, inputs, skip_unknown)
    unclear = set() if about else _find_changed_texts(stored, hashes, is_pass)
    _plan_events(plan, judgments, targets, inputs, evidence, unclear)
    return plan


def _group_presentations(keys: Iterable[JudgmentKey], rows: Sequence[tuple[object, ...]]) -> _TargetsByKey:
    """Group the stored presentations by judgment, in the order of `rows`."""
    stored: _TargetsByKey = {key: [] for key in keys}
    for row in rows:
        stored.get(JudgmentKey(*row[:3]), []).append(_Target(*row[3:]))  # type: ignore[arg-type]
    return stored


def _choose_stored_targets(
    judgments: _Judgments, stored: _TargetsByKey, inputs: ImportInputs, about: str | None
) -> _Targets:
    """Choose the stored presentations that judgments from the same pass answer."""
    hashes, targets = dict(inputs.documents), {}
    for key, presentations in stored.items():
        candidates = [target for target in presentations if target.same_pass]
        if (target := _choose_target(candidates, hashes[key.document_id], about)) is not None:
            if judgments[key].evidence and not target.labeling:  # imports may lack evidence
                target = target._replace(guide_hash=inputs.guide.guide_hash)
            targets[key] = target
    return targets


def _choose_target(targets: Sequence[_Target], content_hash: str, about: str | None) -> _Target | None:
    """Choose the presentation that an imported judgment answers: the last answered one, otherwise an open
    one; None if there is no presentation."""
    current = [target for target in targets if target.content_hash == content_hash]
    earlier = [target for target in targets if target.content_hash != content_hash]
    candidates = {CURRENT: current, EARLIER: earlier or current}.get(about or "", targets)
    return candidates[-1] if candidates else None


def _choose_text(targets: Sequence[_Target], content_hash: str, about: str | None) -> str:
    """Choose the document version of a judgment without a presentation: a version that the annotator was
    shown before, otherwise the corpus's version."""
    target = _choose_target(targets, content_hash, about)
    return content_hash if target is None else target.content_hash


def _make_presentations(
    round_id: str, texts: Mapping[JudgmentKey, str], inputs: ImportInputs, stored: _TargetsByKey
) -> list[Presentation]:
    """Make presentations for judgments that answer no stored presentation; `texts` holds document
    versions."""
    stored_ids = {target.presentation_id for targets in stored.values() for target in targets}
    positions: dict[str, int] = defaultdict(int, inputs.positions)
    presentations = []
    for key, text in texts.items():
        presentation_id = digest("presentation", round_id, *key)
        if presentation_id in stored_ids:  # stored for an earlier text by a file of this name
            presentation_id = digest("presentation", round_id, *key, text)
        position = positions[key.annotator]
        positions[key.annotator] += 1
        presentations.append(Presentation(presentation_id, round_id, *key, text, position, None))
    return presentations


def _find_changed_texts(stored: _TargetsByKey, hashes: Mapping[str, str], is_pass: bool) -> set[JudgmentKey]:
    """Find judgments whose annotators saw a text that differs from the corpus's text.

    Parameters
    ----------
    is_pass: only presentations of this pass count.
    """
    return {
        key
        for key, targets in stored.items()
        for target in targets
        if target.content_hash != hashes[key.document_id] and (target.same_pass or not is_pass)
    }


def _plan_events(
    plan: ImportPlan,
    judgments: _Judgments,
    targets: _Targets,
    inputs: ImportInputs,
    evidence: Mapping[JudgmentKey, Spans],
    unclear: Collection[JudgmentKey],
) -> None:
    """Plan the judgment events; reject a judgment among `unclear` unless the same judgment is already
    stored."""
    marked = [key for key, spans in evidence.items() if spans]
    context = judging.JudgingContext(
        {
            target.presentation_id: judging.PresentationState(
                key.annotator, target.guide_hash, target.next_revision, target.answered, target.closed
            )
            for key, target in targets.items()
        },
        {row[0]: row[1:] for row in inputs.keys},
        inputs.guides,
        {targets[key].presentation_id: inputs.bodies[targets[key].content_hash] for key in marked},
    )
    last_keys = {(name, revision + 1): key for key, (_, name, revision) in context.used_keys.items()}
    submissions: dict[str, list[judging.Submission]] = defaultdict(list)
    unclear_keys: list[JudgmentKey] = []
    lines: dict[str, int] = {}
    for key, judgment in judgments.items():
        target = targets[key]
        client_key = _make_client_key(target, judgment.grade)
        is_sealed = target.answered and key.query_id in inputs.sealed
        plan.counts["sealed"] += is_sealed
        marks = inputs.marks.get(target.presentation_id, ())
        if target.answered and (target.grade, marks) == (judgment.grade, evidence.get(key, marks)):
            plan.counts["unchanged"] += not is_sealed
        elif client_key in context.used_keys and not _is_imported(target, last_keys):
            plan.counts["superseded"] += not is_sealed
        elif key in unclear:
            unclear_keys.append(key)
        else:
            if client_key in context.used_keys:
                client_key = _make_client_key(target, judgment.grade, target.next_revision)
            plan.counts["judgments"] += not target.answered
            plan.counts["changed"] += target.answered and not is_sealed
            plan.counts["filled"] += target.labeling and not target.answered
            spans = evidence.get(key, ())
            submissions[key.annotator].append(_make_submission(judgment, target, client_key, spans))
            lines[client_key] = judgment.line
    _refuse_unclear(judgments, unclear_keys)
    problems: list[str] = []
    for annotator, items in submissions.items():
        outcomes, events, event_marks = judging.judge_submissions(annotator, items, context)
        refused = [outcome for outcome in outcomes if outcome.status != "saved"]
        problems += [f"line {lines[outcome.client_key]}: {outcome.message}" for outcome in refused]
        plan.marks += event_marks
        has_time = {item.client_key: item.submitted_at is not None for item in items}
        plan.events += [event._replace(time_known=has_time[event.client_key]) for event in events]
    refuse_problems(problems, way_out=EVIDENCE_WAY_OUT)


def _locate_evidence(
    plan: ImportPlan, judgments: _Judgments, targets: _Targets, inputs: ImportInputs, skip_unknown: bool
) -> dict[JudgmentKey, Spans]:
    """Locate the file's evidence in the texts, by judgment; raise an error that lists all evidence that
    cannot be stored."""
    spans: dict[JudgmentKey, Spans] = {}
    problems: list[str] = []
    for key, judgment in judgments.items():
        if judgment.evidence is not None:
            body = inputs.bodies.get(targets[key].content_hash, "")
            stated = select_evidence_in_text(judgment.evidence, body) if skip_unknown else judgment.evidence
            plan.absent_quotes += len(judgment.evidence) - len(stated)
            try:
                spans[key] = locate_evidence(stated, key.document_id, body, judgment.line)
            except InputError as error:
                problems += error.problems
    refuse_problems(problems, way_out=WAY_OUT)
    return spans


def _refuse_unknown(judgments: _Judgments, guide: Guide, hashes: Mapping[str, str]) -> None:
    off_scale = [
        f"line {judgment.line}: {guide.describe_off_scale(judgment.grade)}"
        for judgment in judgments.values()
        if judgment.grade is not None and guide.describe_off_scale(judgment.grade)
    ]
    refuse_problems(off_scale, way_out="Map other scales with --grade-map, for example 100=3,10=2,1=1,0=0.")
    first_lines = {judgment.document_id: judgment.line for judgment in reversed([*judgments.values()])}
    unknown = [
        f"line {line}: the corpus has no document {document_id!r}"
        for document_id, line in sorted(first_lines.items(), key=lambda item: item[1])
        if document_id not in hashes
    ]
    way_out = "Import the corpus with the judged documents, or leave these judgments out with --skip-unknown."
    refuse_problems(unknown, way_out=way_out)


def _refuse_moved(
    judgments: _Judgments, targets: Collection[JudgmentKey], moved: Sequence[tuple[str, str, str, str]]
) -> None:
    rounds = {JudgmentKey(*row[:3]): row[3] for row in moved}
    problems = [
        f"line {judgment.line}: the pair ({key.query_id}, {key.document_id}) was moved from "
        f"{key.annotator} to a different annotator, in the round {rounds[key]!r}"
        for key, judgment in judgments.items()
        if key in rounds and key not in targets
    ]
    way_out = "These pairs now belong to another annotator, who judges them. Leave these rows out."
    refuse_problems(problems, way_out=way_out)


def _refuse_unclear(judgments: _Judgments, keys: Collection[JudgmentKey]) -> None:
    problems = [
        f"line {judgments[key].line}: {key.annotator} judged a different text of the document "
        f"{key.document_id!r} than the corpus has now (query {key.query_id!r})"
        for key in keys
    ]
    way_out = (
        "Say which text the judgments are about: --about current (the current text: new judgments) or "
        "--about earlier (the text that the annotators judged: corrections)."
    )
    refuse_problems(problems, way_out=way_out)


def _make_client_key(target: _Target, grade: int | None, *revision: int) -> str:
    """Make the client key of an imported judgment; a later answer's key contains the revision."""
    return digest("import", target.presentation_id, grade, *revision)


def _is_imported(target: _Target, last_keys: Mapping[tuple[str, int], str]) -> bool:
    """Return whether the last answer to a presentation came from a file rather than from the grading
    screen."""
    revision = target.next_revision
    keys = (_make_client_key(target, target.grade), _make_client_key(target, target.grade, revision - 1))
    return target.answered and last_keys.get((target.presentation_id, revision)) in keys


def _make_submission(
    judgment: ImportedJudgment, target: _Target, key: str, spans: Spans
) -> judging.Submission:
    return judging.Submission(
        presentation_id=target.presentation_id,
        revision=target.next_revision,
        kind="cannot_tell" if judgment.grade is None else "grade",
        client_key=key,
        grade=judgment.grade,
        reason=judgment.reason,
        note=judgment.note,
        submitted_at=judgment.submitted_at,
        evidence=spans,
    )
