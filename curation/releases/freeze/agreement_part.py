"""The part 'agreement' of a release: agreement figures, with numbers instead of annotators' names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from curation.agreement.gate import Gate, check_gate
from curation.agreement.inter_annotator import MINIMUM_UNITS, compute_agreement
from curation.agreement.intra_annotator import score_repeats
from curation.agreement.outliers import find_uninformative
from curation.core.digests import canonical_json
from curation.core.statistics.estimate import Estimate
from curation.labeling.consensus.consensus import ConsensusCounts
from curation.labeling.consensus.dawid_skene import estimate_errors
from curation.labeling.consensus.rule import MAJORITY
from curation.labeling.consensus.votes import Votes
from curation.releases.checksums import round_floats
from curation.releases.freeze.project_rows import ProjectRows
from curation.releases.part_rows import NO_NUMBER, Rows

AGREEMENT_SEED = 0
BETWEEN_FIGURES = "nominal ordinal raw units queries single annotators judgments cannot_tell".split()
"""Agreement figures between annotators that a release contains."""


def make_agreement_part(
    rows: ProjectRows, counts: ConsensusCounts, numbers: Mapping[str, str]
) -> tuple[Gate, Rows]:
    """Return the result of the agreement gate, and the rows of a release's part 'agreement'.

    Parameters
    ----------
    numbers: annotator's name → the annotator's number in the release.
    """
    between = compute_agreement(rows.grades, rows.labels.scale, AGREEMENT_SEED)
    within = [score_repeats(repeats) for repeats in rows.repeats]
    outliers = find_uninformative(rows.grades)
    gate = check_gate(between.ordinal, within, rows.all_imported, rows.demand, outliers, between.annotators)
    gate = replace(gate, confused=between.confused)
    figures = vars(between) | between.figures
    # judgments about older texts are not compared; only releases that have such judgments count them
    older = {"older": between.older} if between.older else {}
    consistency = [asdict(row) | {"annotator": numbers[row.annotator]} for row in within]
    row = {
        "seed": AGREEMENT_SEED,
        "between": {name: _store_figure(name, figures[name], between.pairs) for name in BETWEEN_FIGURES}
        | older,
        "within": sorted(consistency, key=lambda person: str(person["annotator"])),
        "consensus": _describe_consensus(counts, rows.labels.votes, numbers),
        "gate": [check._asdict() for check in gate.checks],
    }
    return gate, [round_floats(row)]


def _describe_consensus(counts: ConsensusCounts, votes: Votes, numbers: Mapping[str, str]) -> dict[str, Any]:
    """Describe the rule by which the grades were decided; for rules other than majority, also its settings,
    inputs and errors."""
    consensus = asdict(counts)
    if counts.rule == MAJORITY:
        return {name: count for name, count in consensus.items() if name != "ruled"}
    consensus["settings"] = votes.rule.settings
    consensus["inputs"] = {"judgments": votes.rows.num_rows - votes.rows["annotator"].null_count}
    if votes.rule.by_errors:
        consensus["errors"] = _describe_errors(votes, numbers)
    return consensus


def _describe_errors(votes: Votes, numbers: Mapping[str, str]) -> dict[str, Any] | None:
    errors = estimate_errors(votes)
    if errors is None:
        return None
    rows = [row._asdict() | {"annotator": numbers.get(row.annotator, NO_NUMBER)} for row in errors.annotators]
    return asdict(errors) | {"annotators": sorted(rows, key=canonical_json)}


def _store_figure(name: str, value: Any, pairs: int) -> Any:
    """Return an agreement figure as a release stores it: named 'alpha', or 'share' for a share of equal
    grades."""
    if not isinstance(value, Estimate):
        return value
    is_defined = value.value is not None
    return {
        "share" if name == "raw" else "alpha": value.value,
        "low": value.low,
        "high": value.high,
        "units": value.n,
        "pairs": pairs,
        "undefined": None if is_defined else value.why,
        "no_interval": value.why if is_defined else None,
        "too_few": is_defined and value.n < MINIMUM_UNITS,
    }
