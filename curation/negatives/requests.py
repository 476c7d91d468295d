"""What is asked of hard negatives, and of an audit of assumed negatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from curation.core.operation import DEFAULT_MODEL, Option, Seed, option

NEAR_DUPLICATE = 0.8
"""Similarity from which a text is a near-duplicate."""

SIMILARITY = Option(
    "Similarity of a near-duplicate",
    "Similarity from which a text is a near-duplicate. It is the Jaccard of word 3-grams.",
    least=0.01,
    most=1,
)


@dataclass(frozen=True)
class HardNegativesRequest:
    """How many hard negatives each query should have, and what is too near to a relevant document."""

    want: int = option(
        10,
        "Hard negatives of a query",
        "Number of hard negatives for each query; 10 to 20 are usual.",
        flag="--negatives",
        least=1,
    )
    threshold: Annotated[float, SIMILARITY] = NEAR_DUPLICATE


@dataclass(frozen=True)
class AuditRequest:
    """A round over a random part of the assumed negatives; its own numbers and the seed decide the draw."""

    annotators: Sequence[str] = option(
        (),
        "Annotators",
        "Open a round for these annotators, separated by commas. Without them the last one is reported.",
        commas=True,
    )
    name: str | None = option(
        None,
        "Name of the round",
        "Name of the round to open or to report.",
        flag="--round",
        unset="audit-1, audit-2 …; the audit opened last",
    )
    size: int = option(100, "Pairs to draw", "Number of pairs to draw.", least=1)
    seed: Seed = 0
    overlap: int = option(1, "Annotators of a pair", "How many different annotators judge each pair.")
    depth: int = option(
        100, "Depth of lists", "Rank to which documents of lists are assumed negatives.", least=1
    )
    threshold: Annotated[float, SIMILARITY] = NEAR_DUPLICATE
    systems: Sequence[str] | None = option(
        None,
        "Systems",
        "Systems whose lists are used, such as bm25 and run:NAME. Separate them by commas. Others are dense "
        "and hybrid.",
        unset="all of the latest pool",
        commas=True,
    )
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model",
        "Embedding model of dense and hybrid, as for the pool.",
        unset="the default model",
    )
