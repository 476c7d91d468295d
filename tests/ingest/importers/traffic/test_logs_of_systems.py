# ruff: noqa: E501  lines as the systems write them
"""Query logs in the forms in which search engines, web servers and analytics tools write them."""

from __future__ import annotations

import json
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import TrafficFields
from curation.ingest.readers.query_logs import find_query_text
from tests.support.projects import rows_of

NOON = datetime(2026, 3, 31, 12)
MATCH = {
    "query": {
        "bool": {"filter": [{"term": {"shop": {"value": "de"}}}], "must": [{"match": {"name": "red hat"}}]}
    }
}

NGINX = """\
203.0.113.9 - - [31/Mar/2026:14:00:00 +0200] "GET /search?q=red+hat%21&page=1 HTTP/1.1" 200 5316 "-" "Mozilla/5.0 (X11) Chrome/120" "-"
203.0.113.9 - - [31/Mar/2026:14:00:09 +0200] "GET /search?q=red+hat%21&page=2 HTTP/1.1" 200 4111 "-" "Mozilla/5.0 (X11) Chrome/120" "-"
203.0.113.9 - - [31/Mar/2026:14:00:09 +0200] "GET /static/app.css HTTP/1.1" 200 9 "-" "Mozilla/5.0 (X11) Chrome/120" "-"
203.0.113.9 - - [31/Mar/2026:14:00:10 +0200] "GET /search?q=gone HTTP/1.1" 404 9 "-" "Mozilla/5.0 (X11) Chrome/120" "-"
"""
SOLR = """\
2026-03-31 12:00:00.000 INFO  (qtp1359044626-35) [c:shop s:shard1 r:core_node2 x:shop_shard1_replica_n1 t:null-7] o.a.s.c.S.Request webapp=/solr path=/select params={q=red+hat&fq=cat:cable&rows=10&wt=json} hits=2 status=0 QTime=6
2026-03-31 12:00:00.010 INFO  (qtp1359044626-36) [c:shop s:shard2 r:core_node4 x:shop_shard2_replica_n3 t:null-8] o.a.s.c.S.Request webapp=/solr path=/select params={q=red+hat&isShard=true&wt=javabin} hits=2 status=0 QTime=1
2026-03-31 12:00:01.000 INFO  (qtp1359044626-37) [   x:shop] o.a.s.c.S.Request [shop] webapp=/solr path=/select params={q=*:*&_=1383093507142} hits=468 status=0 QTime=0
2026-03-31 12:00:02.000 WARN  (qtp1359044626-38) [   x:shop] o.a.s.c.SolrCore slow: 900
"""
SLOW = f"""\
[2026-03-31T12:00:00,000][WARN ][i.s.s.query              ] [node-0] [shop][0] took[78.4micros], took_millis[0], total_hits[3 hits], stats[], search_type[QUERY_THEN_FETCH], total_shards[1], source[{json.dumps(MATCH)}], id[MY_USER_ID],
[2026-03-31T12:00:00,001][WARN ][i.s.s.fetch              ] [node-0] [shop][0] took[9ms], took_millis[9], total_hits[3 hits], stats[], search_type[QUERY_THEN_FETCH], total_shards[1], source[{json.dumps(MATCH)}], id[MY_USER_ID],
[2026-03-31T12:00:01,000][WARN ][index.search.slowlog.query] [node-0] [shop][0] took[1ms], took_millis[1], types[], stats[], search_type[QUERY_THEN_FETCH], total_shards[1], source[{{"query":{{"match_all":{{"boost":1.0}}}}}}],
"""
ELASTICSEARCH_8 = {
    "@timestamp": "2026-03-31T12:00:00.000Z",
    "log.level": "WARN",
    "elasticsearch.slowlog.id": "tomcat-123",
    "elasticsearch.slowlog.message": "[shop][0]",
    "elasticsearch.slowlog.source": json.dumps(MATCH),
    "elasticsearch.slowlog.took_millis": 0,
    "event.dataset": "elasticsearch.index_search_slowlog",
    "log.logger": "index.search.slowlog.query",
    "user.name": "elastic",
}
OPENSEARCH = {
    "type": "index_search_slowlog",
    "timestamp": "2026-03-31T14:00:00,000+02:00",
    "level": "WARN",
    "component": "i.s.s.query",
    "node.name": "node-0",
    "message": "[shop][0]",
    "took_millis": "0",
    "source": json.dumps(MATCH),
    "cluster.uuid": "Aq-c-PAeQiK3tfBYtig9Bw",
}
FILEBEAT = {
    "@timestamp": "2026-03-31T12:00:00.000Z",
    "elasticsearch": {"slowlog": {"source": json.dumps(MATCH), "logger": "index.search.slowlog.query"}},
}
EVENT = {"@timestamp": "2026-03-31T12:00:00.000Z", "user": {"id": "u1"}, "query": "red hat"}
GA4 = {
    "event_date": "20260331",
    "event_timestamp": "1774958400000000",
    "event_name": "view_search_results",
    "user_pseudo_id": "u1",
    "event_params": [
        {"key": "ga_session_id", "value": {"string_value": None, "int_value": "99", "double_value": None}},
        {"key": "search_term", "value": {"string_value": "red hat", "int_value": None, "double_value": None}},
    ],
}
PAGE_VIEW = GA4 | {"event_name": "page_view", "event_params": GA4["event_params"][:1]}
GA4_REPORT = """\
# ----------------------------------------
# Search terms
# Account: Shop
# Property: Shop - GA4
# ----------------------------------------
#
# All Users
# Start date: 20260301
# End date: 20260331
Nth day,Event count
0000,4
0001,3

# All Users
# Start date: 20260301
# End date: 20260331
Search term,Event count,Total users
,10,6,"Grand total"
red hat,7,4
(not set),3,2
"""
MATOMO_VISIT = {
    "idSite": "1",
    "idVisit": "u1",
    "visitorId": "8eff6e09bc1e3bd3",
    "actionDetails": [
        {"type": "action", "url": "https://shop.example/", "pageTitle": "Shop", "timestamp": 1774958399},
        {"type": "search", "siteSearchKeyword": "red hat", "siteSearchCount": "3", "timestamp": 1774958400},
    ],
    "serverTimestamp": 1774958399,
}
KEYWORDS = {"label": "red hat", "nb_visits": 7, "nb_hits": 9, "sum_time_spent": 468, "nb_pages_per_search": 3}


def _rows(store, write, name, content, fields=None):
    result = import_traffic(store, write(name, content), fields)
    return result, rows_of(store, "SELECT text, time, session IS NOT NULL, count FROM traffic ORDER BY line")


@pytest.mark.parametrize(
    ("name", "content", "row", "left_out"),
    [
        ("access.log", NGINX, ("red hat!", NOON, True, 1), {"no search": 2}),
        ("solr.log.1", SOLR, ("red hat", NOON, False, 1), {"no search": 3}),
        ("shop_index_search_slowlog.log", SLOW, ("red hat", NOON, False, 1), {"no search": 2}),
        ("slowlog.json", [ELASTICSEARCH_8, ELASTICSEARCH_8 | {"log.logger": "index.search.slowlog.fetch"}],
         ("red hat", NOON, False, 1), {"no search": 1}),
        ("slowlog.json", [OPENSEARCH, OPENSEARCH | {"component": "i.s.s.fetch"}],
         ("red hat", NOON, False, 1), {"no search": 1}),
        ("slowlog.ndjson", [FILEBEAT], ("red hat", NOON, False, 1), {}),
        ("export.jsonl", [EVENT], ("red hat", NOON, True, 1), {}),
        ("dotted.jsonl", [{"@timestamp": EVENT["@timestamp"], "user.id": "u1", "query": "red hat"}],
         ("red hat", NOON, True, 1), {}),
        ("response.json", [{"took": 1, "hits": {"total": {"value": 1}, "hits": [{"_id": "1", "_source": EVENT}]}}],
         ("red hat", NOON, True, 1), {}),
        ("algolia.json", [{"searches": [{"search": "red hat", "count": 7, "nbHits": 20}]}],
         ("red hat", None, False, 7), {}),
        ("algolia.csv", "search,count,nbHits\nred hat,7,20\n", ("red hat", None, False, 7), {}),
        ("algolia.csv", "query,count,withFilterCount\nred hat,7,0\n", ("red hat", None, False, 7), {}),
        ("ga4.json", [PAGE_VIEW, GA4], ("red hat", NOON, True, 1), {"no search": 1}),
        ("ga4.csv", GA4_REPORT, ("red hat", None, False, 7), {}),
        ("matomo.json", [MATOMO_VISIT], ("red hat", NOON, True, 1), {}),
        ("keywords.json", [KEYWORDS], ("red hat", None, False, 7), {}),
        ("keywords.csv", "label,nb_visits,nb_hits\nred hat,7,9\n", ("red hat", None, False, 7), {}),
    ],
)  # fmt: skip
def test_each_tools_own_form_is_read(store, write, name, content, row, left_out):
    result, rows = _rows(store, write, name, content)
    repeated = (
        {"repeated query within 30 minutes of its session (the next page of results)": 1}
        if name == "access.log"
        else {}
    )
    assert (rows, result.left_out) == ([row], left_out | repeated)


def test_events_of_analytics_are_read_from_parquet(store, tmp_path):
    path = tmp_path / "events.parquet"
    pq.write_table(pa.Table.from_pylist([PAGE_VIEW, GA4]), path)
    assert import_traffic(store, path).queries == 1


def test_a_parameter_of_the_url_can_be_named(store, write):
    log = NGINX.replace("?q=", "?phrase=")
    _, rows = _rows(store, write, "access.log", log, TrafficFields("parameter.phrase"))
    assert [row[0] for row in rows] == ["red hat!"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"query": {"match": {"name": {"query": "red hat", "operator": "OR"}}}}, "red hat"),
        ({"query": {"multi_match": {"query": "red hat", "fields": ["name"]}}}, "red hat"),
        ({"query": {"neural": {"vector": {"query_text": "red hat", "k": 5}}}}, "red hat"),
        ({"query": {"function_score": {"query": {"query_string": {"query": "red hat"}}}}}, "red hat"),
        (
            {"query": {"term": {"shop": {"value": "de"}}}, "aggs": {"a": {"filter": {"match": {"b": "c"}}}}},
            "",
        ),
        ('{"query": {"match": {"name": "red ha', ""),
    ],
)
def test_the_text_of_a_search_request_is_found(source, text):
    assert find_query_text(source) == text


def test_a_log_without_time_and_session_says_so_first_and_names_fields_that_look_like_them(store, write):
    path = write("t.csv", "query,asked_at,visitor,shop\nred hat,2026-03-31,v1,de\n")
    assert import_traffic(store, path).outcome.sentences[0] == (
        "Imported the log, but found no time and no session (if a field has it: --map time=asked_at, "
        "--map session=visitor), so turned pages and robots count as queries."
    )
    named = import_traffic(store, path, TrafficFields(time="asked_at", session="visitor"))
    assert named.outcome.sentences[0] == "Imported the log."
