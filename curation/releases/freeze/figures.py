"""The figures of agreement that a release carries, with annotators under their pseudonyms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from curation.agreement.annotators.agreement_with_others import uninformative_of
from curation.agreement.annotators.intra_annotator import IntraAgreement, Repeats, intra_agreement
from curation.agreement.between.grades import Grades
from curation.agreement.between.inter_annotator import AgreementFigure, InterAgreement, inter_agreement
from curation.agreement.gate import Demand, Gate, gate_of
from curation.core.text import canonical_json
from curation.labeling.consensus.annotator_errors import AnnotatorErrors, errors
from curation.labeling.consensus.consensus import ConsensusCounts
from curation.labeling.consensus.rule import MAJORITY
from curation.labeling.consensus.votes import Votes
from curation.releases.release_rows import NO_NUMBER, Table, rounded

AGREEMENT_SEED = 0
BETWEEN = (
    *("nominal", "ordinal", "raw", "units", "queries", "single"),
    *("annotators", "judgments", "cannot_tell"),
)
"""The figures between annotators that a release carries."""


@dataclass(frozen=True)
class Agreement:
    """What the agreement figures are computed from; `annotators` are name → pseudonym."""

    scale: tuple[int, ...]
    grades: Grades
    repeats: tuple[Repeats, ...]
    counts: ConsensusCounts
    votes: Votes
    demand: Demand
    all_imported: bool
    annotators: Mapping[str, str]

    @cached_property
    def between(self) -> InterAgreement:
        return inter_agreement(self.grades, self.scale, AGREEMENT_SEED)

    @cached_property
    def within(self) -> tuple[IntraAgreement, ...]:
        return tuple(intra_agreement(row) for row in self.repeats)

    @cached_property
    def gate(self) -> Gate:
        """The figures against what the project demands of them."""
        return gate_of(
            *(self.between.ordinal, self.within, self.all_imported, self.demand),
            *(uninformative_of(self.grades), self.between.annotators),
        )

    def rows(self) -> Table:
        """The figures, with annotators under their pseudonyms."""
        consistency = [asdict(row) | {"annotator": self.annotators[row.annotator]} for row in self.within]
        between = vars(self.between) | self.between.figures
        figures = {
            "seed": AGREEMENT_SEED,
            "between": {name: _stored(name, between[name]) for name in BETWEEN} | self._older(),
            "within": sorted(consistency, key=lambda row: str(row["annotator"])),
            "consensus": self._consensus(),
            "gate": [check._asdict() for check in self.gate.checks],
        }
        return [rounded(figures)]

    def _older(self) -> dict[str, int]:
        """Judgments about older texts, which are not compared; nothing where there are none."""
        return {"older": self.between.older} if self.between.older else {}

    def _consensus(self) -> dict[str, Any]:
        """How grades came about; other rules than majority also with what they rest on."""
        counts = asdict(self.counts)
        if self.counts.rule == MAJORITY:
            return {name: count for name, count in counts.items() if name != "ruled"}
        rule = self.votes.rule
        given = self.votes.rows
        counts["settings"] = rule.settings
        counts["inputs"] = {"judgments": given.num_rows - given["annotator"].null_count}
        if rule.by_errors:
            counts["errors"] = self._errors(errors(self.votes))
        return counts

    def _errors(self, found: AnnotatorErrors | None) -> dict[str, Any] | None:
        if found is None:
            return None
        people = [
            {**annotator._asdict(), "annotator": self.annotators.get(annotator.annotator, NO_NUMBER)}
            for annotator in found.annotators
        ]
        return asdict(found) | {"annotators": sorted(people, key=canonical_json)}


def _stored(name: str, value: Any) -> Any:
    """A figure as releases have it: alpha and the share of equal grades go by these names."""
    if not isinstance(value, AgreementFigure):
        return value
    figure = asdict(value)
    return {"share" if name == "raw" else "alpha": figure.pop("value"), **figure}
