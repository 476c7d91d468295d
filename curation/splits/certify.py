"""The exhaustive check for ties between the parts of a split.

The check shares no code with the search for ties, so that it finds mistakes of the search: it has its own
shingles and comparison of texts, and imports nothing from `ties` or `groups`. Only the thresholds in
`splits.rules` are common. Tests check these imports, and that both definitions of a shingle agree on any
text. Only pairs of queries that people cut from each other by name may reach a threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from curation.core.progress import Progress, silent
from curation.splits.findings import AssignedSplit, Findings
from curation.splits.shared_checks import check_keys, check_shared_documents
from curation.splits.similarity_checks import check_documents, check_paraphrases, check_query_texts

if TYPE_CHECKING:
    from curation.splits.inputs import SplitInputs
    from curation.splits.rules import Rules

CHECKS: tuple[Callable[[AssignedSplit], Findings | None], ...] = (
    check_query_texts,
    check_paraphrases,
    check_shared_documents,
    check_documents,
    check_keys,
)
"""Map from kind of tie to its check, in the order of the certificate; None if a check was not made."""


def certify(
    inputs: SplitInputs, parts: Mapping[str, str], rules: Rules, progress: Progress = silent
) -> Findings:
    """Compare all queries and documents of each part of a split with those of the other parts.

    Parameters
    ----------
    parts: query id → part, for every query of the inputs.
    """
    split = AssignedSplit(inputs, parts, rules, progress)
    findings_by_kind = [findings for check in CHECKS if (findings := check(split)) is not None]
    return Findings(
        tuple(check for findings in findings_by_kind for check in findings.checks),
        tuple(sorted(leak for findings in findings_by_kind for leak in findings.leaks)),
        tuple(sorted(tie for findings in findings_by_kind for tie in findings.residual)),
    )
