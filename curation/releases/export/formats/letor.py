"""LETOR's lines, for RankLib, SVM-rank, LightGBM and scikit-learn: `3 qid:7 1:0.5 2:0.1 # DOCUMENT QUERY`.

T. Qin and T.-Y. Liu (2013), Introducing LETOR 4.0 datasets, arXiv:1306.2597. A query is a number there; its
text is in the comment. Features are what the pools know of a pair: of each system 1 / rank and the score, 0
where it did not rank the document. features.tsv names them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from curation.releases.export.formats.export_format import (
    ExportFormat,
    Written,
    write_parts,
    write_table,
)
from curation.releases.export.formats.trec import without_space, write_encoded

if TYPE_CHECKING:
    from curation.releases.export.gold import Gold

Places = dict[tuple[str, str], dict[str, tuple[float, float]]]
"""(query id, document id) → system → 1 / rank and score."""


def write_letor(folder: Path, gold: Gold) -> Written:
    """The judged pairs of each part, and the names of the features."""
    numbers = {query["query_id"]: number for number, query in enumerate(gold.queries, 1)}
    documents, places = without_space(gold.documents.ids), _places(gold)
    systems = sorted({system for found in places.values() for system in found})
    features = [f"{what} of {system}" for system in systems for what in ("1 / rank", "score")]
    write_table(folder / "features.tsv", ("feature", "name"), enumerate(features, 1), "\t")

    def lines(part: str) -> Iterator[str]:
        for row in gold.judged(part):
            known = places.get((row.query_id, row.document_id), {})
            values = [value for system in systems for value in known.get(system, (0, 0))]
            vector = " ".join(f"{number}:{value:g}" for number, value in enumerate(values or [0], 1))
            about = f"{documents[row.document_id]} {' '.join(row.text.split())}"
            yield f"{row.grade} qid:{numbers[row.query_id]} {vector} # {about}"

    configs = {"default": write_parts(folder, gold, ".txt", lines)}
    return Written(configs, {"mapped": write_encoded(folder, document=documents)})


def _places(gold: Gold) -> Places:
    """The best place that each system gave a pair in any pool."""
    found: Places = defaultdict(dict)
    for row in gold.candidates:
        if row["rank"] is not None and row["pool_id"] is not None:
            of_pair, system = found[row["query_id"], row["document_id"]], row["system"]
            place = 1 / row["rank"], row["score"] or 0.0
            of_pair[system] = max(place, of_pair.get(system, place))
    return found


LETOR = ExportFormat(
    "letor", write_letor, readers="Learning to rank: RankLib, SVM-rank, LightGBM, scikit-learn"
)
