"""The demo's second quarter: the corpus and the log as they could be three months later.

Both are made of the demo's own by fixed rules: hashes say which texts are cut short, which documents are
gone, which queries nobody asks any more, and which are asked more often; new ones are names from the corpus.
Then `goldgrade relabel status` has something to say. The first quarter's grades and release stay as they are.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from curation.core.progress import Progress, silent
from curation.core.text import digest, normalise_query
from curation.ingest.importers.corpus import CorpusImport, import_corpus
from curation.ingest.importers.traffic.traffic_import import TrafficImport, import_traffic
from curation.ingest.readers.fields import CorpusFields, TrafficFields
from curation.store import Store

LATER = timedelta(weeks=13)
CHANGED, GONE = 10, 25
"""Of so many documents, one is cut short, and one is gone."""

LEFT, RISING, NEW = 6, 6, 60
"""Of so many queries, one is not asked any more, and one is asked three times as often; of so many documents,
the name of one is a new query."""

KEPT = 0.6
"""How much of a text that is cut short stays, at most."""


def import_second_quarter(
    store: Store,
    corpus: Path,
    traffic: Path,
    corpus_fields: CorpusFields,
    traffic_fields: TrafficFields,
    progress: Progress = silent,
) -> tuple[CorpusImport, TrafficImport]:
    """Write the second quarter next to the corpus of the first one, and import it.

    Parameters
    ----------
    corpus: JSON lines with id and body. traffic: CSV with time, query, segment, count.
    """
    folder = corpus.parent
    texts = write_later_corpus(corpus, folder / "corpus-2.jsonl")
    log = write_later_traffic(traffic, corpus, folder / "traffic-2.csv")
    later_corpus = import_corpus(store, texts, corpus_fields, progress=progress)
    return later_corpus, import_traffic(store, log, traffic_fields, progress=progress)


def write_later_corpus(corpus: Path, path: Path) -> Path:
    """The corpus without the documents that are gone, and with some texts cut short."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in _documents(corpus):
            if _chosen("gone", row["id"], GONE):
                continue
            if _chosen("changed", row["id"], CHANGED):
                row["body"] = cut_short(row["body"])
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def cut_short(text: str) -> str:
    """The beginning of a text, to the last line or else the last word before `KEPT` of it."""
    beginning = text[: int(len(text) * KEPT)]
    whole = beginning.rpartition("\n")[0].rstrip() or beginning.rpartition(" ")[0].rstrip()
    return whole or beginning


def write_later_traffic(traffic: Path, corpus: Path, path: Path) -> Path:
    """The log thirteen weeks later, with other counts, and with names from the corpus that are new in it."""
    with traffic.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = {normalise_query(row["query"]) for row in rows}
    names = [row["id"] for row in _documents(corpus) if _chosen("new", row["id"], NEW)]
    new = [name for name in names if normalise_query(name) not in known]
    later = [*_shifted(rows), *_asked(new, datetime.fromisoformat(rows[0]["time"]) + LATER)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["time", "query", "segment", "count"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(later)
    return path


def _shifted(rows: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        text = normalise_query(row["query"])
        if _chosen("left", text, LEFT):
            continue
        times = 3 if _chosen("rising", text, RISING) else 1
        time = datetime.fromisoformat(row["time"]) + LATER
        yield {**row, "time": time.isoformat(), "count": int(row["count"]) * times}


def _asked(names: list[str], first: datetime) -> Iterator[dict[str, Any]]:
    for hour, name in enumerate(names):
        count = 1 + int(digest("count", name)[:4], 16) % 12
        time = (first + timedelta(hours=hour)).isoformat()
        yield {"time": time, "query": name, "segment": "docs-site", "count": count}


def _documents(corpus: Path) -> Iterator[dict[str, Any]]:
    with corpus.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _chosen(what: str, name: str, one_of: int) -> bool:
    return int(digest(what, name)[:8], 16) % one_of == 0
