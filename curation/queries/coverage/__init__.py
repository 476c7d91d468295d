"""Coverage: which regions of the corpus the queries test, and which nothing tests.

The method is semantic stratification (Klearman et al. 2026, arXiv 2604.20763, "Coverage, Not Averages"). The
entities of the documents form a graph by meaning, its clusters are the strata, and each document and each
query belongs to the clusters of its entities. No retriever that is evaluated has a part in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.operation import DEFAULT_MODEL, Seed, option

LEAST_DOCUMENTS = 5
"""Documents of a region."""


@dataclass(frozen=True)
class CoverageRequest:
    """A map of the corpus.

    Attributes
    ----------
    seed: of Leiden; the seeds after it are tried to see how far it decides.
    resolution: None has the rule of `queries.coverage.resolution` choose it.
    """

    seed: Seed = 0
    resolution: float | None = option(
        None,
        "Resolution",
        "Resolution γ of the clusters. Higher is finer. Without one, a rule chooses it.",
        unset="by rule",
        least=0.01,
    )
    least_documents: int = option(
        LEAST_DOCUMENTS,
        "Documents of a region",
        "Minimum number of documents of a region. Clusters with fewer are counted apart.",
        flag="--min-documents",
        least=1,
    )
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model of entities",
        "Embedding model that joins entities: a name or a folder.",
    )
