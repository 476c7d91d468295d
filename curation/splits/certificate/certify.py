"""The exhaustive check for what crosses a split, after the fact.

It shares no code with the search for ties, so that a mistake there cannot hide here: it has its own shingles
and its own comparison of all with all, part against part, and imports nothing of `ties` or `groups`. Tests
check what it imports, and that the two definitions of a shingle agree on any text. Only what a number or
model name is (`numbers`) and the figures of `rules` are shared; pairs that names tell apart are shown.

What was cut by name may reach a threshold; nothing else may.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from curation.progress import Progress, silent
from curation.splits.certificate.documents import check_documents
from curation.splits.certificate.findings import CheckResult, Findings, SplitEvidence
from curation.splits.certificate.queries import check_paraphrases, check_query_texts
from curation.splits.certificate.shared import check_keys, check_shared_documents, check_time_blocks

if TYPE_CHECKING:
    from curation.splits.inputs import SplitInputs
    from curation.splits.rules import Rules

CHECKS: tuple[Callable[[SplitEvidence], CheckResult | None], ...] = (
    check_query_texts,
    check_paraphrases,
    check_shared_documents,
    check_documents,
    check_keys,
    check_time_blocks,
)
"""One for each kind of tie, in the order of the certificate; a check returns None where it was not made."""


def certify(
    inputs: SplitInputs, parts: Mapping[str, str], rules: Rules, progress: Progress = silent
) -> Findings:
    """Compare everything in one part with everything in the others.

    Parameters
    ----------
    parts: query id → part, for every query of the inputs.
    """
    cut = {frozenset(pair) for pair in rules.cut}
    evidence = SplitEvidence(inputs, parts, rules, cut, progress)
    results = [check(evidence) for check in CHECKS]
    made = [result for result in results if result is not None]
    return Findings(
        tuple(result.check for result in made),
        tuple(sorted(leak for result in made for leak in result.leaks)),
        tuple(sorted(tie for result in made for tie in result.residual)),
    )
