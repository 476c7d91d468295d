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
    budget: at most so many pairs that systems propose, evenly over the queries (`budget.spend`). Random
        negatives come on top.
    sample_bands, sample_budget: only a random sample of the pairs is judged; see `pool_sample.read_design`.
    stemmer: the project's stemmer for BM25 from now on, by its language, or 'none'; None: as it was.
    ids: see `build_pool`.
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
    sample_bands: str | None = option(
        None,
        "Bands of ranks",
        "Judge a random sample of the pool, by bands of ranks. Give the last rank of each and the "
        "share of it that is judged, such as 10:1,50:0.3,100:0.1. The last one ends at the depth. With a "
        "number of pairs: ranks alone.",
        unset="judge the whole pool",
    )
    sample_budget: int | None = option(
        None,
        "Pairs in the sample",
        "Judge a random sample of so many pairs. The first band is judged whole, the deeper ones at one "
        "rate.",
        unset="judge the whole pool",
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
