"""The second Icecat campaign's runs beside our bm25, with the campaign's real ratings."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.queries import active_queries
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.run_import import import_run
from curation.ingest.readers.fields import CorpusFields, JudgmentFields, RunFields
from curation.labeling.consensus.relevance import read_relevance
from curation.labeling.judgments.imported import import_judgments
from curation.negatives.audit import open_audit
from curation.negatives.audit_rate import audit_report
from curation.negatives.hard_negatives import hard_negatives
from curation.people.annotators import add_annotator
from curation.pooling.contributions import contributions
from curation.pooling.pool import build_pool
from curation.store import Store

RUNS = ("no-vector", "vector-2", "with-vector")


@pytest.mark.slow
def test_what_systems_contributed_and_which_negatives_are_hard(
    store: Store, shared: Path, tmp_path: Path
) -> None:
    icecat = shared / "chorus_icecat"
    ratings = icecat / "Broad_Query_Set_rated.csv"
    with ratings.open(encoding="utf-8", newline="") as file:
        rated = {(row["query"], row["docid"]): int(row["rating"]) for row in csv.DictReader(file)}
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
    build_pool(store, ["bm25", *(f"run:{name}" for name in RUNS)], depth=10, random_negatives=0, seed=1)

    report = contributions(store, read_relevance(store))
    lines = {line.system: line for line in report.systems}
    assert [twins.systems for twins in report.twins] == [["run:vector-2", "run:with-vector"]]
    assert (lines["run:vector-2"].lost, lines["run:with-vector"].lost) == (0, 0)
    assert report.twins[0].lost > 0
    assert lines["bm25"].lost > 50
    assert lines["run:no-vector"].lost > 50
    assert lines["run:no-vector"].top == 1274

    found = hard_negatives(store)
    assert found.negatives > 100
    for query in found.queries:
        for negative in query.negatives:
            assert rated[query.text, negative.document_id] == 0
        for suspect in query.suspects:
            assert (query.text, suspect.document_id) not in rated
            assert len(suspect.above) >= 2

    audit_against_the_second_campaign(store, icecat, set(rated))


def audit_against_the_second_campaign(store: Store, icecat: Path, rated: set[tuple[str, str]]) -> None:
    """The second campaign judged much of what the first had left out: the interval holds that share."""
    add_annotator(store, "ann", "annotator", "a long password")
    opened = open_audit(store, ["ann"], size=600, seed=7, depth=10, systems=[f"run:{name}" for name in RUNS])
    assert [item.drawn for item in opened.strata] == [600, 0, 0]
    fields = JudgmentFields(
        query="query", document="doc_id", annotator="rater", grade="rating", cannot_tell="unrateable"
    )
    import_judgments(store, icecat / "campaign_2" / "judgements_long.csv", fields, skip_unknown=True)
    report = audit_report(store)
    with store.reading() as cursor:
        texts = {query.query_id: query.text for query in active_queries(cursor)}
        pooled = cursor.execute(
            "SELECT DISTINCT query_id, document_id FROM candidate_sources WHERE starts_with(system, 'run:')"
        ).fetchall()
    relevance = read_relevance(store)
    graded = [pair for pair in pooled if pair in relevance.grades and (texts[pair[0]], pair[1]) not in rated]
    share = sum(map(relevance.is_relevant, graded)) / len(graded)
    assert report.rate is not None
    assert report.low is not None
    assert report.high is not None
    assert len(graded) > report.judged > 300
    assert report.low < share < report.high
    assert 0.4 < share < 0.6
