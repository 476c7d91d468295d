"""Imported judgments: each annotator's judgments of a pair are merged into one, with the latest grade."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from curation.core.errors import refuse_problems
from curation.ingest.importers.evidence_cells import StatedEvidence

EARLIER_GRADE = "an earlier grade by the same person for the same pair"
_ONE_GRADE = (
    "An annotator can give a pair only one grade: keep one of the two lines. If both lines have "
    "times (--map time), the later grade counts."
)


class JudgmentKey(NamedTuple):
    """The key of an annotator's current grade: annotator, query id and document id."""

    annotator: str
    query_id: str
    document_id: str

    @property
    def pair(self) -> tuple[str, str]:
        """Return query id and document id."""
        return self.query_id, self.document_id


class ImportedJudgment(NamedTuple):
    """A judgment from a file; a `grade` of None means cannot-tell, and an `evidence` of None means no
    evidence."""

    query_id: str
    document_id: str
    annotator: str
    grade: int | None
    note: str | None = None
    reason: str | None = None
    submitted_at: datetime | None = None
    line: int = 0
    evidence: tuple[StatedEvidence, ...] | None = None

    @property
    def key(self) -> JudgmentKey:
        """Return annotator, query id and document id."""
        return JudgmentKey(self.annotator, self.query_id, self.document_id)


def merge_judgments(
    judgments: Sequence[ImportedJudgment], left_out: dict[str, int]
) -> dict[JudgmentKey, ImportedJudgment]:
    """Merge judgments into one per annotator and pair, with the evidence joined; count the repetitions.

    If an annotator graded a pair several times, the latest grade counts.

    Raises
    ------
    InputError: an annotator gives a pair two grades, and no times tell which grade is the later one.
    """
    by_key: dict[JudgmentKey, list[ImportedJudgment]] = {}
    for judgment in judgments:
        by_key.setdefault(judgment.key, []).append(judgment)
    problems: list[str] = []
    counts: Counter[str] = Counter(left_out)
    merged = {
        key: _join_judgments(_keep_latest(group, counts), counts, problems) for key, group in by_key.items()
    }
    left_out.update(counts)
    refuse_problems(problems, way_out=_ONE_GRADE)
    return merged


def _keep_latest(same_pair: list[ImportedJudgment], left_out: Counter[str]) -> list[ImportedJudgment]:
    """Return an annotator's judgments of a pair, except those replaced by a later, different grade."""
    times = [judgment.submitted_at for judgment in same_pair if judgment.submitted_at is not None]
    if len(times) < len(same_pair) or len({judgment.grade for judgment in same_pair}) == 1:
        return same_pair
    latest = [judgment for judgment in same_pair if judgment.submitted_at == max(times)]
    left_out[EARLIER_GRADE] += len(same_pair) - len(latest)
    return latest


def _join_judgments(
    same_pair: list[ImportedJudgment], left_out: Counter[str], problems: list[str]
) -> ImportedJudgment:
    """Merge an annotator's judgments of a pair into one."""
    first, *later_judgments = same_pair
    merged = first
    for judgment in later_judgments:
        if first.grade != judgment.grade:
            problems.append(
                f"line {judgment.line}: {judgment.annotator} gives the pair ({judgment.query_id}, "
                f"{judgment.document_id}) {judgment.grade}, but {first.grade} on line {first.line}"
            )
        elif merged.evidence != judgment.evidence:
            further_ranges = [stated._replace(line=judgment.line) for stated in judgment.evidence or ()]
            merged = merged._replace(evidence=(*(merged.evidence or ()), *further_ranges))
        else:
            left_out["repeated judgment"] += 1
    return merged
