"""The formats of exports. Each writer puts its files into a folder and tells what became of ids and rows.

beir        corpus.jsonl (the whole pinned corpus), queries.jsonl, qrels/<part>.tsv
leaderboard the same without the grades of sealed parts: can be given to anybody
trec        topics.tsv, qrels.txt, qrels.<part>.txt
ranx        qrels.json, qrels.<part>.json: query id → document id → grade
csv, parquet  one table: query_id, query_text, doc_id, relevance, split
hf          a Hugging Face data-set folder: README.md (the card), corpus, queries and qrels in Parquet
triplets    (anchor, positive, negative) for sentence-transformers, with the ids beside them
ntuples     (anchor, positive, negative_1 … negative_n), likewise

Where queries and documents share an id, beir and hf put a prefix before all of them. TREC files are split at
white space: in ids that have some it is percent-encoded, and ids.tsv has the table. Bytes depend on the
release and on what was asked for only (Parquet's also on the version of pyarrow that writes them).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from curation.releases.formats.beir import write_beir
from curation.releases.formats.files import Written
from curation.releases.formats.hf import write_hf
from curation.releases.formats.ranx import write_ranx
from curation.releases.formats.tables import write_csv, write_parquet
from curation.releases.formats.trec import write_trec
from curation.releases.formats.triplets import write_ntuples, write_triplets
from curation.releases.gold import Gold

FORMATS: dict[str, Callable[[Path, Gold], Written]] = {
    "beir": write_beir,
    "leaderboard": write_beir,
    "trec": write_trec,
    "ranx": write_ranx,
    "csv": write_csv,
    "parquet": write_parquet,
    "hf": write_hf,
    "triplets": write_triplets,
    "ntuples": write_ntuples,
}

LEADERBOARD = "leaderboard"
UNSEALED = (LEADERBOARD, "triplets", "ntuples")
"""Formats that take the grades of unsealed parts alone unless parts are named."""
