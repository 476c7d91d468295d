"""What a pool is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curation.core.operation import DEFAULT_MODEL, Needs, Seed, option
from curation.retrieval.engines import RATE

SYSTEMS = ("bm25", "dense", "hybrid")


@dataclass(frozen=True)
class PoolRequest:
    """Documents of systems for each query.

    Attributes
    ----------
    systems: names out of `SYSTEMS`, `run:NAME` for imported runs, `engine:NAME` for engines, whose lists of
        today are stored as a run.
    model: what dense and hybrid embed with; see `retrieval.embedding_model.find_model`.
    budget: at most so many pairs that systems propose, evenly over the queries (`pooling.budget`). Random
        negatives come on top.
    stemmer: the project's stemmer for BM25 from now on, by its language, or 'none'; None: as it was.
    ids: a file with all ids of the engine, which random negatives are drawn from on a held corpus.
    """

    systems: Sequence[str] = option(
        SYSTEMS,
        "Systems",
        "Systems that propose documents, such as bm25 and run:NAME. Others are dense and "
        "hybrid. run:NAME is an imported run, engine:NAME an engine.",
        commas=True,
    )
    depth: int = option(10, "Depth", "Documents from the top of each system.", least=1)
    random_negatives: int = option(
        5,
        "Random negatives for each query",
        "Random documents for each query. They come from outside every system's first 1,000.",
        least=0,
    )
    seed: Seed = 0
    budget: int | None = option(
        None,
        "Budget in pairs",
        "Maximum number of pairs from the systems. It is spread evenly over the queries.",
        unset="no limit",
        least=1,
    )
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model of dense and hybrid",
        "Embedding model of dense and hybrid: a name or a folder.",
        needs=Needs(
            "only dense and hybrid use a model; name one among the systems",
            lambda pool: not {"dense", "hybrid"}.isdisjoint(pool["systems"]),
        ),
    )
    stemmer: str | None = option(
        None,
        "Stemmer of bm25 in this project from now on",
        "Stemmer of bm25 in this project from now on. A language of Snowball, such as english "
        "or german, or none.",
        unset="as before; at first none",
        metavar="LANGUAGE",
    )
    rate: float = option(
        RATE,
        "Requests a second to an engine",
        "Requests a second to the engine, at most.",
        least=0.01,
        needs=Needs(
            "no engine and no run is among the systems",
            lambda pool: not {*SYSTEMS}.issuperset(pool["systems"]),
        ),
    )
    ids: str | None = None
