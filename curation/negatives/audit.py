"""The audit of assumed negatives, as a round over a random sample of them.

A simple random sample without replacement is drawn from each stratum of the assumed negatives
(`assumed_negatives`): a pair of stratum h is included with probability n_h / N_h. Each stratum gets the same
number of pairs, or all its pairs if it has fewer, because `audit_rate` computes a rate for each stratum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from curation.core.digests import sort_by_seed
from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.reports.tables import Table
from curation.core.request import refuse_invalid
from curation.core.statistics.stratified_sampling import allocate
from curation.core.text import pluralize
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.candidates import Candidate, Selection
from curation.labeling.rounds.create_round import OpenedRound, open_round_over
from curation.labeling.rounds.rounds import list_rounds
from curation.negatives import assumed_negatives
from curation.negatives.assumed_negatives import STRATA, AuditInputs, NegativeDuplicate, Population
from curation.negatives.requests import AuditRequest
from curation.people.seal_access import SealAccess, describe_withheld_pairs, resolve_access
from curation.pooling.relevance import Pair
from curation.pooling.systems import AUDIT
from curation.store import Cursor, Store

Strata = Mapping[str, Sequence[Pair]]
"""Map from the name of a stratum to its assumed negatives."""


class AuditStratum(NamedTuple):
    """A stratum of an audit, with the numbers of its pairs and drawn pairs."""

    name: str
    population: int
    drawn: int

    @property
    def probability(self) -> float | None:
        """Return the inclusion probability of a pair; None if the stratum has no pairs."""
        return self.drawn / self.population if self.population else None


@dataclass(frozen=True)
class AuditOpened:
    """A newly opened audit of assumed negatives.

    Attributes
    ----------
    opened: the round of the audit, whose `left_out` counts, by reason, pairs that are not assumed negatives.
    systems: systems whose lists make the strata, each searched to `depth`.
    near_duplicates: near-duplicates of relevant documents, which are left out of the population.
    sealed: number of near-duplicates that are not listed, because their queries are sealed.
    """

    opened: OpenedRound
    pool_id: str
    systems: list[str]
    depth: int
    strata: list[AuditStratum]
    near_duplicates: list[NegativeDuplicate]
    sealed: int

    @property
    def sentences(self) -> list[str]:
        """Count the pairs in the audit's round, the pairs left out, by reason, and the sealed pairs."""
        return [
            f"Opened {self.opened.round}: {pluralize(self.opened.candidates, 'pair')}, "
            f"{pluralize(self.opened.presentations, 'presentation')}.",
            *(f"{count:,} {reason}" for reason, count in self.opened.left_out.items()),
            *filter(None, [describe_withheld_pairs(self.sealed)]),
        ]

    @property
    def tables(self) -> tuple[Table, Table]:
        """Show the strata with their drawn pairs, and the near-duplicates left out."""
        strata = tuple((*stratum, stratum.probability) for stratum in self.strata)
        title = f"Assumed negatives of {', '.join(self.systems)} to depth {self.depth:,}"
        columns = ("Query", "Document", "Relevant", "Similarity")
        return (
            Table(title, ("Stratum", "Pairs", "Drawn", "Probability"), strata),
            Table("Near-duplicates left out", columns, tuple(self.near_duplicates)),
        )


def open_audit(
    store: Store, request: AuditRequest, progress: Progress = silent, access: SealAccess | None = None
) -> AuditOpened:
    """Open a round of kind 'audit' over a random sample of the assumed negatives.

    Annotators see an audit like any other round, and judgments in an audit count. If the population has fewer
    pairs than the request asks for, all pairs are drawn. A request without systems uses all systems of the
    latest pool, whose settings must be unchanged.

    Parameters
    ----------
    access: access to sealed results. Without access, near-duplicates of sealed queries are counted and not
        listed.

    Raises
    ------
    InputError: a number is out of its bounds, or a system is unknown.
    NotFoundError: an annotator, the model or a run does not exist.
    RefusedError: there is no corpus, no pool or no assumed negative; the settings of a system differ from the
        pool's; or `create_round.open_round_over` refuses.
    """
    refuse_invalid(request)
    with store.reading() as cursor:
        name = request.name or _choose_name(cursor)
        access = resolve_access(cursor, access)
    layout = RoundRequest(
        name, request.annotators, request.overlap, duplicates=0.0, seed=request.seed, kind="audit"
    ).checked()
    attempts: list[tuple[Selection, Population]] = []  # more than one if the project changed meanwhile

    def choose(inputs: AuditInputs) -> Selection:
        population, systems = assumed_negatives.find_population(store, inputs, request, progress)
        selection = _draw_candidates(inputs, population, systems, request)
        attempts.append((selection, population))
        return selection

    opened = open_round_over(store, layout, assumed_negatives.read_audit_inputs, choose)
    selection, population = attempts[-1]
    visible_duplicates = [pair for pair in population.near_duplicates if access.can_show(pair.query_id)]
    return AuditOpened(
        opened=opened,
        pool_id=selection.parameters["pool"],
        systems=selection.parameters["systems"],
        depth=request.depth,
        strata=[AuditStratum(**row) for row in selection.parameters["strata"]],
        near_duplicates=visible_duplicates,
        sealed=len(population.near_duplicates) - len(visible_duplicates),
    )


def _choose_name(cursor: Cursor) -> str:
    used_names = {round_.name for round_ in list_rounds(cursor)}
    names = (f"audit-{number}" for number in count(1))
    return next(name for name in names if name not in used_names)


def draw_pairs(strata: Strata, size: int, seed: int) -> tuple[list[AuditStratum], list[Pair]]:
    """Draw at most `size` pairs without replacement, equally many from each stratum, ordered by stratum."""
    populations = [len(strata[name]) for name in STRATA]
    sizes = allocate(min(size, sum(populations)), populations, [1] * len(STRATA))
    drawn_strata = [AuditStratum(*row) for row in zip(STRATA, populations, sizes, strict=True)]
    pairs = []
    for stratum in drawn_strata:
        pairs += sort_by_seed(strata[stratum.name], seed, lambda pair: ["audit", *pair])[: stratum.drawn]
    return drawn_strata, pairs


def _draw_candidates(
    inputs: AuditInputs, population: Population, systems: Sequence[str], request: AuditRequest
) -> Selection:
    if not any(population.strata.values()):
        raise RefusedError(
            "There is nothing to audit: every easy negative and every pair down to depth "
            f"{request.depth:,} is judged, planned in a round, or a near-duplicate of a relevant document. "
            "Increase --depth, or build a pool with --random-negatives."
        )
    drawn_strata, pairs = draw_pairs(population.strata, request.size, request.seed)
    parameters = {
        "pool": inputs.pool_id,
        "systems": list(systems),
        "depth": request.depth,
        "threshold": request.threshold,
        "size": request.size,
        "strata": [stratum._asdict() for stratum in drawn_strata],
    }
    left_out = dict(population.left_out)
    if len(pairs) < request.size:
        reason = "pairs are missing, because there are no more assumed negatives"
        left_out[reason] = request.size - len(pairs)
    documents = inputs.corpus.part(document_id for _, document_id in pairs)
    hashes = dict(zip(documents.ids, documents.hashes.to_pylist(), strict=True))
    candidates = [Candidate(*pair, hashes[pair[1]]) for pair in sorted(pairs)]
    stratum_of = (stratum.name for stratum in drawn_strata for _ in range(stratum.drawn))
    sources = {pair: f"{AUDIT}{name}" for pair, name in zip(pairs, stratum_of, strict=True)}
    return Selection(candidates, parameters, left_out, sources)
