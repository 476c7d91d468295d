"""Adjudication: a reviewer decides the grade of a disputed pair.

Each decision is appended with the pair's next revision number and the document version that was read.
The latest decision outranks later judgments, until the corpus has a new version of the document and somebody
judges that version. The screen sends the revision that the reviewer saw. If two reviewers decide a pair at
the same time, the second is refused and sees the first decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from curation.core.characters import describe_lookalike, find_lookalikes
from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.evidence_spans import describe_outside_spans
from curation.core.spans import Spans, union
from curation.core.text import MAX_NOTE_LENGTH, describe_left_out, pluralize
from curation.guides.guide import Guide, current_guide
from curation.ingest.importers.decision_lines import DecisionLine
from curation.ingest.importers.known_queries import KnownQueries, QueryColumn
from curation.ingest.importers.unknown_names import describe_similar_name
from curation.ingest.outcome import ImportOutcome, describe_fields
from curation.ingest.readers.fields import DecisionFields
from curation.ingest.readers.values import is_missing_value, parse_whole_number
from curation.labeling.consensus import decisions
from curation.labeling.consensus.consensus import PairConsensus, compute_consensus
from curation.labeling.consensus.decisions import Pair, ReviewerDecision, Ruling
from curation.labeling.consensus.disputes import read_cases
from curation.labeling.consensus.marks import ProjectMarks, read_marks
from curation.labeling.consensus.votes import Votes, read_votes
from curation.people.annotators import REVIEWERS, require_author
from curation.store import COMMAND_LINE, Cursor, Store, get_setting, record_event, write_if_unchanged
from curation.store.documents import documents_by_hash

BUSY = (
    "Other reviewers decided pairs while goldgrade read the file. No decision of the file was stored. Try "
    "again."
)
UNJUDGED = "nobody has judged this pair"
UNDISPUTED = "not disputed"
DECIDED = "decided already"
NO_GRADE = "no grade in the file"
REPEATED = "decision that is already stored"
UNMARKED = (
    "annotators marked different evidence, and the guide requires evidence: decide this pair in the app "
    "and mark the passage"
)


class OvertakenError(RefusedError):
    """Error: another reviewer has already decided the pair on screen; the error carries that decision."""

    def __init__(self, decision: ReviewerDecision) -> None:
        super().__init__(describe_overtaking(decision))
        self.decision = decision


@dataclass(frozen=True)
class DecisionImport:
    """Counts for an import of decisions: decisions written, and lines left out by reason (`left_out`)."""

    decided: int
    left_out: dict[str, int]
    fields: DecisionFields

    @property
    def sentences(self) -> list[str]:
        """Return a sentence that says how many pairs were decided, and how many lines were left out for each
        reason."""
        return [f"{pluralize(self.decided, 'pair')} decided.", *describe_left_out(self.left_out, "lines")]

    @property
    def outcome(self) -> ImportOutcome:
        """Return the outcome of the import of decisions as counts and sentences."""
        sentence = self.sentences[0] if self.decided else "Nothing changed: the file has no new decisions."
        figures = {"pairs": self.decided, "lines": self.decided + sum(self.left_out.values())}
        remarks = [describe_fields(self.fields)]
        return ImportOutcome(bool(self.decided), sentence, "lines", figures, self.left_out, remarks)


_Plan = tuple[list[Ruling], dict[Pair, ReviewerDecision], DecisionImport]


class _DecisionInputs(NamedTuple):
    """The stored rows that the import of a decision file needs: guide, corpus, pairs and earlier
    decisions."""

    guide: Guide
    queries: KnownQueries
    votes: Votes
    current: dict[Pair, ReviewerDecision]
    versions: dict[Pair, str]
    marks: ProjectMarks


def decide_pair(
    store: Store,
    query_id: str,
    document_id: str,
    grade: int | None,
    reason: str,
    reviewer: str = COMMAND_LINE,
    seen_revision: int | None = None,
    content_hash: str | None = None,
    evidence: Spans = (),
) -> ReviewerDecision:
    """Store a reviewer's decision on a judged pair; sending the same decision again changes nothing.

    Parameters
    ----------
    grade: a grade of the guide's scale; None if no grade can be given.
    reviewer: the name of an annotator with the role reviewer or lead, or 'command line'.
    seen_revision: number of decisions on the pair when the reviewer opened it; None skips the check.
    content_hash: the version of the document that the reviewer read; None for the version of a `Case`.
    evidence: ranges of the document's body that show the grade. Without evidence, the characters that most
        annotators marked count; if there are no such characters and the guide requires evidence, the decision
        is refused.

    Raises
    ------
    InputError: the grade is not on the scale; the reason is missing or too long; the evidence is outside the
        text, is missing, or is given with a grade that takes no evidence.
    NotFoundError: the query or reviewer is unknown, or nobody has judged the pair.
    RefusedError: the author is neither reviewer nor lead.
    OvertakenError: the pair was decided since the reviewer saw it.
    """
    pair = (query_id, document_id)
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        guide = current_guide(cursor)
        problems = list(_find_problems(grade, reason, guide))
        problems += [guide.describe_evidence_problem(grade, has_evidence=True)] if evidence else []
        refuse_problems(list(filter(None, problems)))
        if not decisions.is_judged(cursor, pair):
            raise decisions.unjudged_error(*pair)
        needed = "" if evidence else guide.describe_evidence_problem(grade, has_evidence=False)
        if needed and any(case.dispute.marks_apart for case in read_cases(cursor, [pair])):
            way_out = "Annotators gave the same grade but marked different passages."
            raise InputError(needed, way_out=way_out)
    with store.transaction(appends=True) as cursor:
        version_read = content_hash or decisions.read_judged_versions(cursor, [pair]).get(pair)
        ruling = Ruling(*pair, grade, reason.strip(), version_read, union(evidence))
        _refuse_outside(cursor, ruling)
        current = decisions.read_current_decisions(cursor, [pair])
        current_decision = current.get(ruling.pair)
        if current_decision is not None and _is_repeated(cursor, ruling, current_decision, reviewer):
            return current_decision
        if current_decision is not None and seen_revision not in (None, current_decision.revision + 1):
            seen_decision = decisions.find_decision(cursor, pair, seen_revision)
            if seen_decision is not None and _is_repeated(cursor, ruling, seen_decision, reviewer):
                return seen_decision
            raise OvertakenError(current_decision)
        decision = decisions.append_decisions(cursor, [ruling], current, reviewer)[0]
        detail = {"query_id": decision.query_id, "document_id": document_id, "grade": grade}
        record_event(cursor, "adjudicate", {**detail, "revision": decision.revision}, reviewer)
    return decision


def import_decisions(
    store: Store,
    proposals: Sequence[DecisionLine],
    reviewer: str = COMMAND_LINE,
    every_pair: bool = False,
    source: Path | None = None,
) -> DecisionImport:
    """Store a file's decisions on disputed pairs in one transaction.

    Parameters
    ----------
    every_pair: decide all judged pairs, including undisputed pairs and pairs already decided.
    source: the file with the decisions.

    Raises
    ------
    InputError: grades are not on the scale, reasons are missing, a pair has two decisions, or several queries
        share a text; the error lists all problems.
    NotFoundError: the reviewer is unknown.
    RefusedError: the author is neither reviewer nor lead, or other reviewers decided pairs during the import.
    """

    def read(cursor: Cursor) -> _DecisionInputs:
        require_author(cursor, reviewer, *REVIEWERS)
        return _DecisionInputs(
            guide=current_guide(cursor),
            queries=KnownQueries.read(cursor),
            votes=read_votes(cursor),
            current=decisions.read_current_decisions(cursor),
            versions=decisions.read_judged_versions(cursor),
            marks=read_marks(cursor),
        )

    def plan(inputs: _DecisionInputs) -> _Plan:
        left_out: Counter[str] = Counter()
        fields = proposals[0].fields if proposals else DecisionFields()
        queries = QueryColumn(inputs.queries, fields.query)
        rulings, problems = _make_rulings(proposals, inputs.guide, queries, left_out)
        problems += _find_alike_documents(proposals, inputs.versions)
        refuse_problems(problems, path=source, way_out="No decision was stored: correct these lines first.")
        chosen = _choose_rulings(rulings, inputs, reviewer, every_pair, left_out)
        return chosen, inputs.current, DecisionImport(len(chosen), dict(left_out), fields)

    def write(cursor: Cursor, planned: _Plan) -> None:
        rulings, current, decided = planned
        decisions.append_decisions(cursor, rulings, current, reviewer)
        counts = {"decided": decided.decided, "left_out": decided.left_out}
        detail = {"source": source.name if source else None, **counts}
        record_event(cursor, "adjudicate from a file", detail, reviewer)

    *_, imported = write_if_unchanged(
        store, fingerprint=_read_fingerprint, read=read, plan=plan, write=write, busy=BUSY
    )
    return imported


def describe_overtaking(decision: ReviewerDecision) -> str:
    """Return the message for a reviewer who had a pair on screen when another reviewer decided it."""
    grade = "that no grade can be given" if decision.grade is None else f"grade {decision.grade}"
    return (
        f"{decision.reviewer} decided this pair while you had it open. The decision is {grade}, because "
        f"“{decision.reason}”. Your decision was not saved. Look at the pair again, and decide again if you "
        "disagree."
    )


def _refuse_outside(cursor: Cursor, ruling: Ruling) -> None:
    if ruling.evidence:
        version = ruling.content_hash or ""
        document = documents_by_hash(cursor, [version]).get(version)
        problem = describe_outside_spans(document.body if document else "", ruling.evidence)
        refuse_problems([problem] if problem else [])


def _is_repeated(cursor: Cursor, ruling: Ruling, decision: ReviewerDecision, reviewer: str) -> bool:
    """Return whether the reviewer's stored decision has the same grade, reason and marks."""
    same = ruling.repeats(decision, reviewer)
    return same and decisions.read_decision_marks(cursor, [decision]).get(ruling.pair, ()) == ruling.evidence


def _read_fingerprint(cursor: Cursor) -> tuple[object, ...]:
    """Read the guide hash, the corpus and the number of decisions, to detect changes during the import."""
    count = cursor.execute("SELECT count(*) FROM adjudications").fetchall()[0][0]
    return get_setting(cursor, "guide"), get_setting(cursor, "corpus"), count


def _choose_rulings(
    rulings: Sequence[Ruling],
    inputs: _DecisionInputs,
    reviewer: str,
    every_pair: bool,
    left_out: Counter[str],
) -> list[Ruling]:
    """Choose the decisions to write, and count the lines left out, by reason."""
    consensus_by_pair = {pair[:2]: pair for pair in compute_consensus(inputs.votes).pairs}
    chosen = []
    for proposed_ruling in rulings:
        ruling = proposed_ruling._replace(content_hash=inputs.versions.get(proposed_ruling.pair))
        current_decision = inputs.current.get(ruling.pair)
        reason = _find_reason_left_out(consensus_by_pair.get(ruling.pair), every_pair, inputs.marks)
        if current_decision is not None and ruling.repeats(current_decision, reviewer):
            reason = reason or REPEATED
        elif inputs.marks.lacks_marks(ruling.pair, ruling.grade):
            reason = reason or UNMARKED
        if reason:
            left_out[reason] += 1
        else:
            chosen.append(ruling)
    return chosen


def _find_problems(grade: int | None, reason: str, guide: Guide) -> Iterator[str]:
    if grade is not None and guide.describe_off_scale(grade):
        yield guide.describe_off_scale(grade)
    if not reason.strip():
        yield "a decision needs a reason"
    if len(reason) > MAX_NOTE_LENGTH:
        yield f"a reason has at most {MAX_NOTE_LENGTH:,} characters; this reason has {len(reason):,}"


def _make_rulings(
    proposals: Sequence[DecisionLine], guide: Guide, queries: QueryColumn, left_out: Counter[str]
) -> tuple[list[Ruling], list[str]]:
    """Return a decision for each pair in the file, in order, and all problems; count the lines left out."""
    first_rulings: dict[Pair, tuple[int, Ruling]] = {}
    problems = []
    for entry in proposals:
        try:
            ruling = _make_ruling(entry, guide, queries)
        except InputError as error:
            problems += [f"line {entry.line}: {problem}" for problem in error.problems]
            continue
        if isinstance(ruling, str):
            left_out[ruling] += 1
            continue
        first_line, first_ruling = first_rulings.setdefault(ruling.pair, (entry.line, ruling))
        if first_ruling is not ruling:
            left_out[REPEATED] += 1
        if first_ruling != ruling:
            problems.append(
                f"line {entry.line}: contradicts the decision for the same pair on line {first_line}"
            )
    return [ruling for _, ruling in first_rulings.values()], problems


def _make_ruling(entry: DecisionLine, guide: Guide, queries: QueryColumn) -> Ruling | str:
    """Return the decision in a line of a decision file, or the reason for leaving the line out."""
    if is_missing_value(entry.grade) and guide.find_grade(entry.grade) is None:
        return NO_GRADE
    numeric_grade = parse_whole_number(entry.grade)
    grade = guide.find_grade(entry.grade) if numeric_grade is None else numeric_grade
    if grade is None:
        raise InputError(f"grade {entry.grade!r} is neither a whole number nor the name of a grade")
    problems = list(_find_problems(grade, entry.reason, guide))
    refuse_problems(problems)
    query = queries.find(entry.query, entry.line)
    if query is None and (suggestion := describe_similar_name(entry.query, queries.alike)):
        raise InputError(f"the project has no query {entry.query!r}{suggestion}")
    return Ruling(query.query_id, entry.document_id, grade, entry.reason.strip()) if query else UNJUDGED


def _find_alike_documents(entries: Sequence[DecisionLine], judged: Iterable[Pair]) -> list[str]:
    """List document ids in the file that nobody judged and that differ from a judged id only in form."""
    judged_ids = {document_id for _, document_id in judged}
    unjudged = [entry for entry in entries if entry.document_id not in judged_ids]
    lines = {entry.document_id: entry.line for entry in reversed(unjudged)}
    return [
        f"line {lines[document_id]}: nobody has judged the document {document_id!r}; it differs from the "
        f"known {judged_id!r} by {describe_lookalike(document_id, judged_id)}"
        for document_id, judged_id in find_lookalikes(lines, judged_ids).items()
    ]


def _find_reason_left_out(pair: PairConsensus | None, every_pair: bool, marks: ProjectMarks) -> str:
    """Return the reason why a pair is left out; '' if the pair gets a decision."""
    if pair is None or not pair.judgments:
        return UNJUDGED
    if every_pair or marks.is_disputed(pair):
        return ""
    return DECIDED if pair.how == "adjudicated" else UNDISPUTED
