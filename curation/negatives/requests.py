"""The requests for negatives: each query's hard negatives, and an audit round over assumed negatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from curation.core.request import DEFAULT_MODEL, Option, Seed, option

NEAR_DUPLICATE = 0.8
"""A document with at least this similarity is a near-duplicate."""

SIMILARITY = Option(
    "Similarity of a near-duplicate",
    "Minimum similarity of near-duplicate texts. It is the Jaccard index of word 3-grams.",
    minimum=0.01,
    maximum=1,
)


@dataclass(frozen=True)
class HardNegativesRequest:
    """A request for hard negatives: their number per query, and the similarity of a near-duplicate."""

    want: int = option(
        10,
        "Hard negatives of a query",
        "Number of hard negatives for each query; 10 to 20 are usual.",
        flag="--negatives",
        minimum=1,
    )
    threshold: Annotated[float, SIMILARITY] = NEAR_DUPLICATE


@dataclass(frozen=True)
class AuditRequest:
    """A request for an audit round over a random sample of the assumed negatives."""

    annotators: Sequence[str] = option(
        (),
        "Annotators",
        "Open a round for these annotators, separated by commas. Without this option, the command reports "
        "the last audit.",
        is_comma_separated=True,
    )
    name: str | None = option(
        None,
        "Round name",
        "Round to open or report on.",
        flag="--round",
        unset="audit-1, audit-2 …; the audit opened last",
    )
    size: int = option(100, "Pairs to draw", "Number of pairs to draw.", minimum=1)
    seed: Seed = 0
    overlap: int = option(1, "Annotators of a pair", "How many annotators judge each pair.")
    depth: int = option(
        100, "Depth of lists", "Treat documents down to this rank as assumed negatives.", minimum=1
    )
    threshold: Annotated[float, SIMILARITY] = NEAR_DUPLICATE
    systems: Sequence[str] | None = option(
        None,
        "Systems",
        "Systems whose lists are used, separated by commas. Choose from bm25, dense, hybrid, "
        "and run:NAME for an imported run.",
        unset="all systems of the latest pool",
        is_comma_separated=True,
    )
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model",
        "Embedding model for dense and hybrid. The pool must have used the same model.",
        unset="the default model",
    )
