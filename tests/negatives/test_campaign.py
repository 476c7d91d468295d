"""An audit of the negatives that the first Icecat campaign assumed, against the grades of the second."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.run_import import import_run
from curation.ingest.readers.fields import CorpusFields, JudgmentFields, RunFields
from curation.labeling.consensus.consensus import read_relevance
from curation.labeling.imported import import_judgments
from curation.negatives.audit import open_audit
from curation.negatives.audit_rate import report_audit
from curation.negatives.requests import AuditRequest
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.store import Store
from tests.support.projects import rows_of

RUNS = ("no-vector", "vector-2", "with-vector")


@pytest.mark.costly("imports 19,406 products and three runs")
def test_the_interval_of_an_audit_holds_the_share_that_the_second_campaign_found(
    store: Store, shared: Path, tmp_path: Path
) -> None:
    """The second campaign judged much of what the first had left out."""
    icecat = shared / "chorus_icecat"
    ratings = icecat / "Broad_Query_Set_rated.csv"
    with ratings.open(encoding="utf-8", newline="") as file:
        rated = {(row["query"], row["docid"]) for row in csv.DictReader(file)}
    import_corpus(store, icecat / "products.jsonl.gz", CorpusFields("id", "title", ("short_description",)))
    (tmp_path / "q.tsv").write_text(
        "text\n" + "\n".join(sorted({query for query, _ in rated})), encoding="utf-8"
    )
    import_queries(store, tmp_path / "q.tsv")
    fields = JudgmentFields(query="query", document="docid", grade="rating", annotator_name="campaign")
    import_judgments(store, ratings, fields, skip_unknown=True)
    for name in RUNS:
        path = icecat / "campaign_2" / f"run_{name}.tsv"
        import_run(store, path, name, RunFields(query="query"), skip_unknown=True, skip_repeated=True)
    systems = [f"run:{name}" for name in RUNS]
    build_pool(store, PoolRequest(["bm25", *systems], depth=10, random_negatives=0, seed=1))
    add_annotator(store, "ann", "annotator", "a long password")
    opened = open_audit(store, AuditRequest(["ann"], size=600, seed=7, depth=10, systems=systems))
    assert [item.drawn for item in opened.strata] == [600, 0, 0]
    fields = JudgmentFields(
        query="query", document="doc_id", annotator="rater", grade="rating", cannot_tell="unrateable"
    )
    import_judgments(store, icecat / "campaign_2" / "judgements_long.csv", fields, skip_unknown=True)
    report = report_audit(store)
    texts = dict(rows_of(store, "SELECT query_id, text FROM queries"))
    sql = "SELECT DISTINCT query_id, document_id FROM candidate_sources WHERE starts_with(system, 'run:')"
    pooled = rows_of(store, sql)
    relevance = read_relevance(store)
    graded = [pair for pair in pooled if pair in relevance.grades and (texts[pair[0]], pair[1]) not in rated]
    share = sum(map(relevance.is_relevant, graded)) / len(graded)
    low, high = report.rate.low, report.rate.high
    assert low is not None
    assert high is not None
    assert len(graded) > report.judged > 300
    assert low < share < high
    assert 0.4 < share < 0.6
