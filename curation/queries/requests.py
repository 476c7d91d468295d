"""The requests of the operations on queries (`queries.operations`)."""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.request import DEFAULT_MODEL, Seed, option

MIN_DOCUMENTS = 5
"""Fewest documents of a cluster that is a region."""


@dataclass(frozen=True)
class TagsRequest:
    """A request to tag queries by rules, without options."""


@dataclass(frozen=True)
class CoverageRequest:
    """A request for a coverage map.

    Attributes
    ----------
    seed: seed of Leiden; the next seeds are tried too, to show how much the clusters depend on the seed.
    resolution: γ of the clusters; None chooses γ by the rule of `queries.coverage.partitions`. A higher γ
        makes regions that other draws of documents would not give, so people do not choose γ.
    least_documents: fewest documents of a region. A cluster with fewer than five documents is too small to
        deserve a query, and measures over regions with different bounds could not be compared.
    """

    seed: Seed = 0
    resolution: float | None = None
    least_documents: int = MIN_DOCUMENTS
    model: str = option(
        DEFAULT_MODEL, "Embedding model of entities", "Embedding model of entities: a name or a folder."
    )
