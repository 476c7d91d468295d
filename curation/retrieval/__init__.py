"""Search in the corpus: the `Retriever` protocol, and its retrievers BM25, dense, hybrid and runs.

Importing this package costs little: scipy, sentence-transformers and torch are imported at the first search.
"""

from curation.retrieval.bm25 import Bm25
from curation.retrieval.dense import Dense
from curation.retrieval.hybrid import Hybrid, fuse
from curation.retrieval.imported_run import RUN_PREFIX, ImportedRun
from curation.retrieval.retriever import Hit, Hits, Retriever

__all__ = ["RUN_PREFIX", "Bm25", "Dense", "Hit", "Hits", "Hybrid", "ImportedRun", "Retriever", "fuse"]
