"""What was shown in a pilot does not make a query one that is in play or judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.store import Store


@pytest.mark.slow
def test_a_pilots_queries_can_be_drawn_as_not_yet_judged_and_leave_with_their_sample(
    store: Store, tmp_path: Path
) -> None:
    corpus, log = tmp_path / "corpus.csv", tmp_path / "log.csv"
    titles = ["red shoes", "blue hat", "mint scarf", "grey coat", "white shirt"]
    corpus.write_text("id,title,text\n" + "".join(f"{title[:3]},{title},{title}\n" for title in titles))
    log.write_text("query\nred shoes\nblue hat\n")
    import_corpus(store, corpus)
    import_traffic(store, log)
    draw_sample(store, DrawRequest(1, seed=1))
    build_pool(store, PoolRequest(["bm25"], 5, 0, 1))
    for name in ("ada", "grace"):
        add_annotator(store, name, "annotator", "a long password")
    open_round(store, RoundRequest("try", ["ada", "grace"], pilot=True))
    again = draw_sample(store, DrawRequest(2, seed=2, exclude_judged=True))
    assert again.left_out == {}
    seeds = range(20)  # a draw that holds the other query than the pilot's
    drawn = []
    for seed in seeds:
        draw_sample(store, DrawRequest(1, seed=seed))
        with store.reading() as cursor:
            drawn.append([query.text for query in read_active_queries(cursor)])
    assert sorted(set(map(tuple, drawn))) == [("blue hat",), ("red shoes",)]
