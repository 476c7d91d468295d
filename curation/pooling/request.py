"""The request for a pool: its systems, depth, random negatives and budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curation.core.request import DEFAULT_MODEL, Needs, Seed, option
from curation.retrieval.engines import RATE
from curation.retrieval.terms import STOP_WORDS

SYSTEMS = ("bm25", "dense", "hybrid")


@dataclass(frozen=True)
class PoolRequest:
    """A request for a pool: its systems, depth, random negatives and budget.

    Attributes
    ----------
    systems: names out of `SYSTEMS`, `run:NAME` for imported runs, and `engine:NAME` for engines, whose
        current lists are stored as a run. No name stands for all of `SYSTEMS` that this machine can use.
    model: embedding model of dense and hybrid; see `retrieval.embedding_model.find_model`.
    budget: largest number of pairs from systems, spread evenly over the queries (`pooling.candidates`).
        Random negatives are not counted.
    keep_words: stop words that the project's BM25 keeps from now on; None changes nothing.
    stemmer: stemmer of the project's BM25 from now on: a language or 'none'; None changes nothing.
    ids: path of a file with all ids of the engine, from which random negatives are drawn on a held corpus.
    """

    systems: Sequence[str] = option(
        (),
        "Systems",
        "Systems that propose documents. Choose from bm25, dense, hybrid, run:NAME for an "
        "imported run, and engine:NAME for an engine. The default is bm25, dense and hybrid, or bm25 alone "
        "if the embedding packages are not installed.",
        is_comma_separated=True,
    )
    depth: int = option(
        10, "Documents from each system", "Number of documents from the top of each system's list.", minimum=1
    )
    random_negatives: int = option(
        5,
        "Random negatives for each query",
        "Number of random documents for each query. They come from outside every system's first 1,000 "
        "results.",
        minimum=0,
    )
    seed: Seed = 0
    budget: int | None = option(
        None,
        "Budget in pairs",
        "Maximum number of pairs from the systems. Each query gets an equal share.",
        unset="no limit",
        minimum=1,
    )
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model for dense and hybrid",
        "Embedding model for dense and hybrid: a name or a folder.",
        needs=Needs(
            "only dense and hybrid use a model; add one of them to the systems",
            lambda pool: not {"dense", "hybrid"}.isdisjoint(pool["systems"] or SYSTEMS),
        ),
    )
    stemmer: str | None = option(
        None,
        "Stemmer for bm25 in this project from now on",
        "Stemmer that bm25 uses in this project from now on. Give a Snowball language, such as "
        "english or german, or none.",
        unset="as before; none in a new project",
        metavar="LANGUAGE",
    )
    keep_words: Sequence[str] | None = option(
        None,
        "Stop words that bm25 keeps from now on",
        "Stop words that bm25 searches for from now on, or none. Keep words such as where or which, "
        "separated by commas, if they are names in the documents. Evaluations of bm25 keep these words, too.",
        choices=(*sorted(STOP_WORDS),),
        unset="as before; none in a new project",
        metavar="WORDS",
        is_comma_separated=True,
    )
    rate: float = option(
        RATE,
        "Requests per second to an engine",
        "Maximum number of requests per second to the engine.",
        minimum=0.01,
        needs=Needs(
            "no engine and no run is among the systems",
            lambda pool: not {*SYSTEMS}.issuperset(pool["systems"]),
        ),
    )
    ids: str | None = None
    judged_queries: bool = option(
        False,
        "Also queries that were judged elsewhere",
        "Also pool queries that were judged elsewhere. By default, a project with a sample leaves out the "
        "queries outside the sample that only imported judgments judge.",
    )

    def limit_pairs(self, queries: int) -> int:
        """Return the largest number of pairs that a pool for this number of queries can have."""
        proposed = queries * len(self.systems) * self.depth
        return min(proposed, self.budget or proposed) + queries * self.random_negatives


FIRST_POOL = PoolRequest(systems=("bm25",))
"""The default request of a form for a pool, which takes only seconds. People can add slow systems later."""
