"""The requests for the operations on queries (`queries.operations`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curation.core.request import DEFAULT_MODEL, Seed, option

MIN_DOCUMENTS = 5
"""Fewest documents of a cluster that is a region."""
REGION = "region"
"""The stratum of documents that stands for the regions of the coverage map."""
QUESTION_KINDS = ("keyword", "question", "paraphrase", "misspelled", "multi-hop", "unanswerable")
"""Kinds of questions that a language model writes (`queries.questions.kinds`)."""


@dataclass(frozen=True)
class TagsRequest:
    """A request to tag queries by rules; it has no options."""


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
        DEFAULT_MODEL, "Embedding model for entities", "Embedding model for entities: a name or a folder."
    )


@dataclass(frozen=True)
class QuestionRequest:
    """A request for questions that a language model writes for documents.

    Attributes
    ----------
    share: share of synthetic queries that people judge, above 0.
    check_model: model that checks the questions; None is the model of the environment.
    """

    per_document: int = option(
        3, "Questions for each document", "Number of questions for each document.", minimum=1, maximum=20
    )
    documents: int = option(200, "Documents", "Number of documents to draw at random.", minimum=1)
    kinds: Sequence[str] = option(
        QUESTION_KINDS,
        "Kinds of questions",
        f"Kinds of questions to take in turn, separated by commas. {', '.join(QUESTION_KINDS)}.",
        choices=QUESTION_KINDS,
        is_comma_separated=True,
    )
    strata: str | None = option(
        None,
        "Strata of the documents",
        "Strata of the documents: a field, or region. Each stratum gives the same number of documents. "
        "region takes the regions of the coverage map.",
        unset="none",
    )
    share: float = option(
        1.0,
        "Share of queries that people judge",
        "Share of synthetic queries that people judge.",
        minimum=0,
        maximum=1,
    )
    seed: Seed = 0
    check_model: str | None = option(
        None,
        "Checking model",
        "Model that checks the questions.",
        unset="the model that writes the questions",
    )
    calls: int | None = option(None, "Most requests", "Maximum number of requests.", minimum=1, unset="all")
