"""The second quarter of the demo: its corpus and its log thirteen weeks later.

Both are made from the first corpus and log. Some documents are gone or cut short. Some queries left the log,
some are asked more often, and names of documents are new queries. A hash decides for each document and query,
so the same files give the same second quarter.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.core.progress import Progress, silent
from curation.ingest.importers.corpus import CorpusImport, import_corpus
from curation.ingest.importers.traffic.traffic_import import TrafficImport, import_traffic
from curation.ingest.readers.fields import CorpusFields, TrafficFields
from curation.store import Store

CORPUS_FIELDS = CorpusFields(group="group")
TRAFFIC_FIELDS = TrafficFields(query="query", time="time", segment="segment", count="count")
QUARTER = timedelta(weeks=13)
ONE_IN_CUT, ONE_IN_REMOVED = 10, 25
"""One document in 10 is cut short, and one document in 25 is gone."""
ONE_IN_DROPPED, ONE_IN_RISING, ONE_IN_NEW = 6, 6, 60
"""One query in 6 is not asked any more, and one query in 6 is asked three times as often; the name of one
document in 60 is a new query."""
MAX_SHARE = 0.6
"""The largest share of a text that remains when the text is cut short."""


def import_second_quarter(
    store: Store, corpus: Path, traffic: Path, progress: Progress = silent
) -> tuple[CorpusImport, TrafficImport]:
    """Write the second quarter's files next to the corpus of the first quarter, and import them.

    Parameters
    ----------
    corpus: JSON lines with id and body. traffic: CSV with time, query, segment, count.
    """
    later_corpus, later_traffic = corpus.with_name("corpus-2.jsonl"), corpus.with_name("traffic-2.csv")
    _write_corpus(corpus, later_corpus)
    _write_traffic(traffic, corpus, later_traffic)
    documents = import_corpus(store, later_corpus, CORPUS_FIELDS, progress=progress)
    return documents, import_traffic(store, later_traffic, TRAFFIC_FIELDS, progress=progress)


def _write_corpus(corpus: Path, path: Path) -> None:
    """Write the corpus without the removed documents, and with some texts cut short."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for document in _read_documents(corpus):
            if _is_drawn("gone", document["id"], ONE_IN_REMOVED):
                continue
            if _is_drawn("changed", document["id"], ONE_IN_CUT):
                document["body"] = _cut_short(document["body"])
            file.write(json.dumps(document, ensure_ascii=False) + "\n")


def _cut_short(text: str) -> str:
    """Cut a text after its last whole line within the first `MAX_SHARE` of the text, or after the last whole
    word if no line fits."""
    beginning = text[: int(len(text) * MAX_SHARE)]
    whole_lines, whole_words = beginning.rpartition("\n")[0], beginning.rpartition(" ")[0]
    return whole_lines.rstrip() or whole_words.rstrip() or beginning


def _write_traffic(traffic: Path, corpus: Path, path: Path) -> None:
    """Write the log of thirteen weeks later, with different counts and with document names as new queries."""
    with traffic.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    logged_queries = {normalise_query(row["query"]) for row in rows}
    names = [row["id"] for row in _read_documents(corpus) if _is_drawn("new", row["id"], ONE_IN_NEW)]
    new_queries = [name for name in names if normalise_query(name) not in logged_queries]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["time", "query", "segment", "count"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(_make_later_rows(rows))
        writer.writerows(_make_new_rows(new_queries, datetime.fromisoformat(rows[0]["time"]) + QUARTER))


def _make_later_rows(rows: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        text = normalise_query(row["query"])
        if not _is_drawn("left", text, ONE_IN_DROPPED):
            factor = 3 if _is_drawn("rising", text, ONE_IN_RISING) else 1
            time = datetime.fromisoformat(row["time"]) + QUARTER
            yield {**row, "time": time.isoformat(), "count": int(row["count"]) * factor}


def _make_new_rows(names: list[str], first: datetime) -> Iterator[dict[str, Any]]:
    for hour, name in enumerate(names):
        count = 1 + int(digest("count", name)[:4], 16) % 12
        time = (first + timedelta(hours=hour)).isoformat()
        yield {"time": time, "query": name, "segment": "docs-site", "count": count}


def _read_documents(corpus: Path) -> Iterator[dict[str, Any]]:
    with corpus.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _is_drawn(kind: str, name: str, one_in: int) -> bool:
    return int(digest(kind, name)[:8], 16) % one_in == 0
