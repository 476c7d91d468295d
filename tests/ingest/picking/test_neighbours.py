"""Files in the forms of other tools go in as they are: each as the source or the documentation says."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.core.progress import silent
from curation.ingest.importers.answers.reference_answers import read_answers
from curation.ingest.picking.file_preview import preview_file
from curation.ingest.picking.request import ImportRequest
from curation.ingest.readers.formats import FileLayout
from curation.operations.importing.collection import CollectionOptions, import_collection
from curation.operations.importing.importing import Imported, dry_run, import_file
from curation.store import Store

Take = Callable[..., Imported]


@pytest.fixture
def take(project: Store, tmp_path: Path) -> Take:
    """take("queries", "a.json", content, annotator="ann"): the import of such a file, with these options."""

    def import_it(what: str, file: str, content: Any, **options: Any) -> Imported:
        path = tmp_path / file
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        fields = {
            name.removesuffix("_field"): options.pop(name) for name in list(options) if "_field" in name
        }
        asked = ImportRequest.of(what, path, fields, options, FileLayout())
        return import_file(project, asked, silent, "lee")

    return import_it


def judged(store: Store) -> set[tuple[Any, ...]]:
    with store.reading() as cursor:
        columns = "q.text, document_id, annotator, grade"
        sql = f"SELECT {columns} FROM current_judgments JOIN queries q USING (query_id)"
        return set(cursor.execute(sql).fetchall())


def answers(store: Store) -> dict[str, tuple[str, ...]]:
    with store.reading() as cursor:
        return read_answers(cursor)


TEA, GREEN = ("tea", "d1", "ann", 3), ("green tea", "d3", "ann", 0)
LINES = "\n".join
QUEPID_CASE = {
    "case_name": "Tea",
    "owner_email": "ann@example.org",
    "scorer": {"name": "nDCG@10", "scale": [0, 1, 2, 3]},
    "queries": [
        {"query_text": "tea", "information_need": "any tea", "ratings": {"d1": 3.0}},
        {"query_text": "green tea", "information_need": None, "ratings": {"d3": 0.0}},
        {"query_text": "mate", "information_need": None, "ratings": {}},
    ],
    "try": {"query_params": "q=#$query##"},
}
QUEPID_BOOK = {
    "name": "Tea",
    "query_doc_pairs": [
        {
            "query_text": "tea",
            "doc_id": "d1",
            "position": 1,
            "judgements": [{"rating": 3.0, "unrateable": False, "user_email": "ann", "explanation": "yes"}],
        },
        {"query_text": "green tea", "doc_id": "d3", "judgements": [{"rating": 0.0, "user_email": "ann"}]},
        {"query_text": "green tea", "doc_id": "d4", "judgements": []},
    ],
}
RANK_EVAL = {
    "requests": [
        {
            "id": "tea",
            "request": {"query": {"match": {"text": "tea"}}},
            "ratings": [{"_index": "shop", "_id": "d1", "rating": 3}],
        },
        {"id": "green tea", "request": {}, "ratings": [{"_index": "shop", "_id": "d3", "rating": 0}]},
    ],
    "metric": {"dcg": {"k": 10}},
}
RRE = {
    "index": "core1",
    "id_field": "id",
    "topics": [
        {
            "description": "Teas",
            "query_groups": [
                {
                    "name": "plain",
                    "queries": [{"template": "only_q.json", "placeholders": {"$query": "tea"}}],
                    "relevant_documents": {"d1": {"gain": 3}},
                },
                {
                    "name": "green",
                    "queries": [{"template": "only_q.json", "placeholders": {"$query": "green tea"}}],
                    "relevant_documents": {"0": ["d3"]},
                },
            ],
        }
    ],
}
LABEL_STUDIO = [
    {
        "id": 1,
        "data": {"query": query, "doc_id": document, "text": "The body."},
        "annotations": [
            {
                "completed_by": {"id": 7, "email": "ann"},
                "was_cancelled": False,
                "lead_time": 4.2,
                "updated_at": "2026-03-09T22:16:08.728378Z",
                "result": [
                    {"from_name": "rel", "to_name": "text", "type": "rating", "value": {"rating": grade}},
                    {"from_name": "why", "to_name": "text", "type": "textarea", "value": {"text": ["so"]}},
                ],
            },
            {"completed_by": {"id": 8, "email": "ben"}, "was_cancelled": True, "result": []},
        ],
        "predictions": [{"result": [{"type": "rating", "value": {"rating": 1}}]}],
    }
    for query, document, grade in (("tea", "d1", 3), ("green tea", "d3", 0))
]
ARGILLA: list[dict[str, Any]] = [
    {
        "id": "1",
        "fields": {"query": query, "text": "The body."},
        "metadata": {"doc_id": document},
        "suggestions": {"rel": {"value": 1, "score": 0.5, "agent": "a model"}},
        "responses": {"rel": [{"value": grade, "user_id": "ann"}]},
    }
    for query, document, grade in (("tea", "d1", 3), ("green tea", "d3", 0))
]
ARGILLA_1 = [
    {
        "id": None,
        "fields": {"query": query, "text": "The body."},
        "metadata": {"doc_id": document},
        "vectors": {},
        "responses": [
            {
                "user_id": "ann",
                "status": "submitted",
                "values": {"rel": {"value": grade}},
                "inserted_at": "2026-03-09T22:16:08",
                "updated_at": "2026-03-09T22:17:08",
            },
            {"user_id": "ben", "status": "discarded", "values": {"rel": {"value": 2}}},
        ],
        "suggestions": [{"question_name": "rel", "value": 1, "agent": "a model"}],
        "external_id": None,
    }
    for query, document, grade in (("tea", "d1", 3), ("green tea", "d3", 0))
]
ARGILLA_FLAT = [
    {
        "id": "1",
        "status": "completed",
        "_server_id": "7b1c",
        "query": query,
        "text": "The body.",
        "doc_id": document,
        "rel.responses": [grade, 2],
        "rel.responses.users": ["ann", "ben"],
        "rel.responses.status": ["submitted", "draft"],
        "rel.suggestion": 1,
        "rel.suggestion.score": 0.5,
        "rel.suggestion.agent": "a model",
    }
    for query, document, grade in (("tea", "d1", 3), ("green tea", "d3", 0))
]
ARGILLA_DATASET = [
    {
        "query": query,
        "text": "The body.",
        "rel": [
            {"user_id": "ann", "value": grade, "status": "submitted"},
            {"user_id": "ben", "value": 2, "status": "draft"},
        ],
        "rel-suggestion": 1,
        "rel-suggestion-metadata": {"agent": "a model", "score": 0.5, "type": "model"},
        "external_id": None,
        "metadata": json.dumps({"doc_id": document}),
    }
    for query, document, grade in (("tea", "d1", 3), ("green tea", "d3", 0))
]
PRODIGY = [
    {
        "text": "The body.",
        "meta": {"query": query, "doc_id": document},
        "options": [{"id": 0, "text": "no"}, {"id": 3, "text": "yes"}],
        "_input_hash": 1,
        "_task_hash": number,
        "accept": [grade] if verdict == "accept" else [],
        "answer": verdict,
        "_timestamp": 1776945025,
        "_annotator_id": "ann",
    }
    for number, (query, document, grade, verdict) in enumerate(
        [("tea", "d1", 3, "accept"), ("green tea", "d3", 0, "accept"), ("tea", "d2", 3, "ignore")]
    )
]
DOCCANO: list[dict[str, Any]] = [
    {
        "id": 1,
        "text": "The body.",
        "query": "tea",
        "doc_id": "d1",
        "label": ["Exactly it"],
        "Comments": [],
    },
    {
        "id": 2,
        "text": "The body.",
        "query": "green tea",
        "doc_id": "d3",
        "label": ["not relevant"],
        "Comments": [],
    },
    {"id": 3, "text": "The body.", "query": "green tea", "doc_id": "d4", "label": [], "Comments": []},
]
POTATO = [
    {
        "instance_id": "tea::d1",
        "user_id": "ann",
        "labels": {"rel": {"scale_3": "3"}},
        "spans": {},
        "links": {},
    },
    {
        "instance_id": "green tea::d3",
        "user_id": "ann",
        "labels": {"rel": {"Not relevant": "true"}},
        "spans": {},
    },
]
HAYSTACK = [
    {
        "id": "1",
        "query": query,
        "document": {"id": document, "content": "The body.", "content_type": "text"},
        "is_correct_document": right,
        "is_correct_answer": right,
        "origin": "user-feedback",
        "answer": {"answer": "a leaf", "type": "extractive", "document_ids": [document]},
    }
    for query, document, right in (("tea", "d1", True), ("green tea", "d3", False))
]
BY = {"annotator": "ann"}
JUDGMENTS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    # o19s/quepid: app/views/api/v1/export/ratings/show.basic.csv.erb; a query without ratings is one cell
    "quepid case csv": ("case.csv", "query,docid,rating\ntea,d1,3.0\ngreen tea,d3,0.0\nmate\n", BY),
    # o19s/quepid: app/controllers/api/v1/books_controller.rb
    "quepid book csv": (
        "book.csv",
        "query,docid,ann\ntea,d1,3\ngreen tea,d3,0\n",
        {"annotator_columns": {"ann": "ann"}},
    ),
    # o19s/quepid: app/views/api/v1/export/{ratings/show,cases/_case,books/_book}.json.jbuilder
    "quepid ratings json": (
        "ratings.json",
        {"queries": [{"query": "tea", "ratings": {"d1": 3}}, {"query": "green tea", "ratings": {"d3": 0}}]},
        BY,
    ),
    "quepid case json": ("case.json", QUEPID_CASE, BY),
    "quepid book json": ("book.json", QUEPID_BOOK, {}),
    # opensearch-project/search-relevance: src/main/java/…/model/QuerySetEntry.java, fromCombinedKey
    "srw judgments": (
        "judgments.json",
        {
            "judgmentRatings": [
                {"query": 'tea#{"referenceAnswer":"a leaf"}', "ratings": [{"docId": "d1", "rating": "3.0"}]},
                {"query": "green tea", "ratings": [{"docId": "d3", "rating": "0.0"}]},
            ]
        },
        BY,
    ),
    # Elasticsearch reference, Ranking evaluation API
    "_rank_eval": ("body.json", RANK_EVAL, BY),
    # SeaseLtd/rated-ranking-evaluator: …/sample_solr_folders_layout/ratings/ratings.json and rre-tools'
    "rre": ("ratings.json", RRE, BY),
    # o19s/quepid show.rre.json.jbuilder
    "rre of quepid": (
        "rre.json",
        {
            "id_field": "id",
            "queries": [
                {"placeholders": {"$query": "tea"}, "relevant_documents": {"3": ["d1"]}},
                {"placeholders": {"$query": "green tea"}, "relevant_documents": {"0": ["d3"]}},
            ],
        },
        BY,
    ),
    # ranklib-dotnet, Training file format; LETOR 4.0 names `docid =`, and has -1 for what was not judged
    "letor": (
        "train.txt",
        "3 qid:7 1:12.3 2:10.5 # d1 tea\n0 qid:8 1:0.0 2:0.0 # d3 green tea\n-1 qid:8 1:0.1 # d4 green tea\n",
        BY,
    ),
    # labelstud.io, Label Studio task format
    "label studio": ("export.json", LABEL_STUDIO, {}),
    # argilla-io/argilla: argilla/src/argilla/records/_resource.py, Record.to_dict
    "argilla": ("records.json", ARGILLA, {}),
    # argilla-io/argilla, v1.29: FeedbackRecord.to_dict, and a row of FeedbackDataset.push_to_huggingface
    "argilla 1": ("records.json", ARGILLA_1, {}),
    "argilla 1 dataset": ("train.jsonl", LINES(map(json.dumps, ARGILLA_DATASET)), {}),
    # argilla-io/argilla, v2: records.to_list(flatten=True)
    "argilla flat": ("records.json", ARGILLA_FLAT, {}),
    "argilla with texts": (
        "records.json",
        [row | {"fields": {"query": row["fields"]["query"], "document": "The body."}} for row in ARGILLA],
        {},
    ),
    # prodi.gy, db-out of a choice interface
    "prodigy": ("out.jsonl", LINES(map(json.dumps, PRODIGY)), {}),
    # doccano/doccano: backend/data_export, JSONL of text classification
    "doccano": ("all.jsonl", LINES(map(json.dumps, DOCCANO)), BY),
    # davidjurgens/potato: potato/export/tabular_exporter.py, JSONLExporter
    "potato": ("annotations.jsonl", LINES(map(json.dumps, POTATO)), {"pair_field": "instance_id"}),
    "potato by user": (
        "annotations.jsonl",
        LINES(
            json.dumps({"user": "ann", "instance_id": row["instance_id"], "label_annotations": row["labels"]})
            for row in POTATO
        ),
        {"pair_field": "instance_id"},
    ),
    # deepset-ai/haystack 1.x: rest_api, export of labels
    "haystack": ("labels.json", HAYSTACK, BY | {"grade_map": "true=3,false=0"}),
}


@pytest.mark.parametrize("tool", JUDGMENTS)
def test_judgments_of_other_tools_go_in_as_they_are(project: Store, take: Take, tool: str) -> None:
    name, content, options = JUDGMENTS[tool]
    found = take("judgments", name, content, **options)
    assert judged(project) == {TEA, GREEN}
    assert found.outcome.remarks[0].startswith(("Fields used: ", "Annotators known"))


def test_letor_4_names_documents_and_numbers_queries(project: Store, take: Take) -> None:
    """LETOR 4.0, description of the datasets."""
    take("judgments", "train.txt", "3 qid:tea 1:0.5 2:0.1 #docid = d1 inc = 1 prob = 0.08\n", **BY)
    assert judged(project) == {TEA}
    for more in ({}, {"skip_unknown": True}):
        with pytest.raises(InputError, match=r"no query '1'|2 unknown query"):
            take("judgments", "train.txt", "3 qid:1 1:0.5 # d1\n0 qid:1 1:0.5 # d2\n", **BY, **more)
    with pytest.raises(InputError, match=r"line 1: found '3 qid:tea 1:0.5'\n.*# DOCUMENT"):
        take("judgments", "train.txt", "3 qid:tea 1:0.5\n", **BY)


def test_what_is_no_judgment_is_counted(project: Store, take: Take) -> None:
    left_out = {}
    for tool in ("quepid case csv", "quepid book json", "label studio", "prodigy", "doccano", "letor"):
        name, content, options = JUDGMENTS[tool]
        left_out[tool] = dict(take("judgments", name, content, **options).outcome.left_out)
    assert left_out == {
        "quepid case csv": {"no grade": 1},
        "quepid book json": {"no grade": 1},
        "label studio": {"no grade": 2},
        "prodigy": {"marked ignore": 1},
        "doccano": {"no grade": 1},
        "letor": {"pooled, not judged (-1)": 1},
    }


def test_queries_of_judged_files_are_taken_once_without_grades(project: Store, take: Take) -> None:
    for name, content in (("case.json", QUEPID_CASE), ("rre.json", RRE), ("book.json", QUEPID_BOOK)):
        take("queries", name, content)
    with project.reading() as cursor:
        rows = cursor.execute("SELECT text, information_need, metadata::TEXT FROM queries").fetchall()
    assert {(row[0], row[1]) for row in rows} == {("tea", "any tea"), ("green tea", None), ("mate", None)}
    assert not any("d1" in row[2] and "ratings" in row[2] for row in rows)


def test_rank_eval_has_the_query_among_the_parameters_of_a_template(project: Store, take: Take) -> None:
    """Elasticsearch reference, Ranking evaluation API, Template-based ranking evaluation."""
    asked = ({"q": "oolong", "size": 9}, {"words": "white tea"})
    requests = [
        {"id": f"r{number}", "template_id": "t", "params": params, "ratings": [{"_id": "d1", "rating": 3}]}
        for number, params in enumerate(asked)
    ]
    take("judgments", "body.json", {"templates": [{"id": "t"}, {"id": "u"}], "requests": requests}, **BY)
    assert judged(project) == {(text, "d1", "ann", 3) for text in ("oolong", "white tea")}


ANSWERS: dict[str, tuple[str, Any]] = {
    # opensearch-project/search-relevance: RestPutQuerySetActionTests.java; as JSON lines; as its API gives it
    "srw": (
        "set.json",
        {"name": "t", "querySetQueries": [{"queryText": "tea", "referenceAnswer": "a leaf"}]},
    ),
    "srw ndjson": (
        "set.ndjson",
        '{"queryText": "tea", "referenceAnswer": "a leaf"}\n{"queryText": "mate"}\n',
    ),
    "srw api": (
        "hits.json",
        {
            "hits": {
                "hits": [
                    {
                        "_source": {
                            "querySetQueries": [
                                {"queryText": "tea", "customFields": {"referenceAnswer": "a leaf"}}
                            ]
                        }
                    }
                ]
            }
        },
    ),
    # docs.langchain.com, Example data format: outputs are the reference
    "langsmith": (
        "data.json",
        [{"inputs": {"question": "tea"}, "outputs": {"answer": "a leaf"}, "metadata": {}}],
    ),
    # Arize-ai/phoenix: routers/v1/datasets.py: CSV of keys, and the API's JSON
    "phoenix csv": ("data.csv", "__example_index__,answer,question\n0,a leaf,tea\n"),
    "phoenix flat csv": ("data.csv", "example_id,input_question,output_answer\nx1,tea,a leaf\n"),
    "phoenix json": (
        "data.json",
        {
            "data": {
                "version_id": "v",
                "examples": [{"input": {"question": "tea"}, "output": {"answer": "a leaf"}}],
            }
        },
    ),
    # js.reference.langfuse.com, DatasetItem; CSV has objects as JSON
    "langfuse": (
        "items.json",
        {
            "data": [{"input": {"question": "tea"}, "expectedOutput": {"answer": "a leaf"}}],
            "meta": {"page": 1},
        },
    ),
    "langfuse csv": ("items.csv", 'input,expectedOutput,status\n"{""question"": ""tea""}",a leaf,ACTIVE\n'),
    # explodinggradients/ragas: dataset_schema.py; before 0.2: question, answer, contexts, ground_truth
    "ragas": (
        "ragas.jsonl",
        '{"user_input": "tea", "response": "a bag", "retrieved_contexts": ["x"], "reference": "a leaf"}\n',
    ),
    "ragas classic": (
        "ragas.json",
        {"question": ["tea"], "answer": ["a bag"], "contexts": [["x"]], "ground_truth": ["a leaf"]},
    ),
    "ragas csv": (
        "ragas.csv",
        "question,answer,contexts,ground_truths\ntea,a bag,\"['x']\",\"['a leaf']\"\n",
    ),
    # confident-ai/deepeval: deepeval/dataset/golden.py
    "deepeval": (
        "goldens.json",
        [{"input": "tea", "actual_output": "a bag", "expected_output": "a leaf", "context": ["x"]}],
    ),
    # run-llama/llama_index: llama_dataset/rag.py
    "llamaindex": (
        "rag_dataset.json",
        {"examples": [{"query": "tea", "reference_contexts": ["x"], "reference_answer": "a leaf"}]},
    ),
    # deepset-ai/haystack: evaluation/eval_run_result.py, the detailed report; 1.x: labels
    "haystack": (
        "report.json",
        {"question": ["tea"], "contexts": [["x"]], "answer": ["a leaf"], "predicted_answer": ["a bag"]},
    ),
    "haystack labels": ("labels.json", HAYSTACK),
    # the same table saved by a spreadsheet
    "capitals": ("faq.csv", "Question,Expected Answer\ntea,a leaf\n"),
}


@pytest.mark.parametrize("tool", ANSWERS)
def test_the_reference_is_taken_and_never_what_a_system_said(project: Store, take: Take, tool: str) -> None:
    if tool.startswith("srw"):
        take("queries", *ANSWERS[tool])
    else:
        take("answers", *ANSWERS[tool])
    assert answers(project) == {"tea": ("a leaf",)}
    if tool in ("langsmith", "deepeval", "llamaindex", "ragas", "langfuse"):
        assert take("queries", *ANSWERS[tool]).outcome.figures["queries"] == 1


@pytest.mark.parametrize(
    "tool", ["langfuse csv", "phoenix json", "ragas", "quepid case json", "label studio"]
)
def test_the_page_proposes_what_the_import_finds_by_itself(project: Store, tmp_path: Path, tool: str) -> None:
    what = "judgments" if tool in JUDGMENTS else "answers"
    name, content, options = JUDGMENTS[tool] if tool in JUDGMENTS else (*ANSWERS[tool], {})
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    asked = ImportRequest(what, str(path), name, options=options)
    fields = preview_file(asked).fields | ({"annotator": ""} if options else {})
    found = dry_run(project, asked, "lee")
    assert found.outcome is not None
    assert found == dry_run(project, asked._replace(fields=fields), "lee")


@pytest.mark.parametrize("gold", ["target", "references", "correct_answer", "ideal", "gold", "expected"])
@pytest.mark.parametrize("answer", ["answer", "response", "output"])
def test_an_answer_next_to_a_reference_is_not_taken(
    project: Store, take: Take, gold: str, answer: str
) -> None:
    take("answers", "a.json", [{"query": "tea", answer: "a bag", gold: ["a leaf"]}])
    assert answers(project) == {"tea": ("a leaf",)}


def test_what_a_tool_skipped_or_archived_is_left_out_and_counted(project: Store, take: Take) -> None:
    rows = "query,docid,rating,decision\ntea,d1,3,accept\ntea,d2,3,Skip\n"
    assert dict(take("judgments", "a.csv", rows, **BY).outcome.left_out) == {"marked skip": 1}
    assert judged(project) == {TEA}
    items = "input,expectedOutput,status\ntea,a leaf,ACTIVE\ngreen tea,WRONG,ARCHIVED\n"
    for what in ("answers", "queries"):
        assert dict(take(what, "items.csv", items).outcome.left_out) == {"marked archived": 1}
    assert answers(project) == {"tea": ("a leaf",)}


@pytest.mark.parametrize("tool", ["label studio", "prodigy"])
def test_the_column_of_the_grades_is_not_said_to_be_unused(take: Take, tool: str) -> None:
    name, content, options = JUDGMENTS[tool]
    used = next(
        said for said in take("judgments", name, content, **options).outcome.remarks if "used" in said
    )
    assert not re.search(r"not used:.*\b(rel|accept)\b", used)


@pytest.mark.parametrize("answer", ["answer", "response"])
def test_an_answer_next_to_the_contexts_of_a_system_is_asked_for(
    project: Store, take: Take, answer: str
) -> None:
    content = [{"question": "tea", answer: "a bag", "contexts": ["x"]}]
    with pytest.raises(
        InputError, match=f"'{answer}' may be what a system answered.*--reference-field {answer}"
    ):
        take("answers", "a.json", content)
    take("answers", "a.json", content, reference_field=answer)
    assert answers(project) == {"tea": ("a bag",)}


def test_a_zip_of_beir_and_the_pairs_of_llamaindex_are_collections(project: Store, tmp_path: Path) -> None:
    """BEIR's own archives; run-llama/llama_index: llama_dataset/legacy/embedding.py."""
    parts = {
        "shop/corpus.jsonl": '{"_id": "d1", "title": "", "text": "A leaf."}\n',
        "shop/queries.jsonl": '{"_id": "tea", "text": "tea"}\n',
        "shop/qrels/test.tsv": "query-id\tcorpus-id\tscore\ntea\td1\t1\n",
    }
    with zipfile.ZipFile(tmp_path / "shop.zip", "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    pairs = {
        "queries": {"tea": "tea"},
        "corpus": {"d2": "A bag."},
        "relevant_docs": {"tea": ["d2"]},
        "mode": "text",
    }
    (tmp_path / "pairs.json").write_text(json.dumps(pairs))
    for name in ("shop.zip", "pairs.json"):
        options = CollectionOptions(annotator="ann", grade_map={"1": 3}, add=True)
        found = import_collection(project, tmp_path / name, options, author="lee")
        assert [file.kind for file in found.files] == ["documents", "queries", "judgments"]
        assert found.files[0].path.relative_to(tmp_path).parts[0] == name
    assert judged(project) == {TEA, ("tea", "d2", "ann", 3)}


def test_a_zip_that_unpacks_to_more_than_can_be_meant_is_refused(
    project: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curation.ingest.readers.bounds.MOST_UNPACKED", 1_000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("corpus.jsonl", "x" * 1_000_000)
    (tmp_path / "bomb.xlsx").write_bytes((tmp_path / "bomb.zip").read_bytes())
    with pytest.raises(InputError, match="unpacks to more than"):
        import_collection(project, tmp_path / "bomb.zip", author="lee")
    asked = ImportRequest.of("queries", tmp_path / "bomb.xlsx", {}, {}, FileLayout())
    with pytest.raises(InputError, match="unpacks to more than"):
        import_file(project, asked, silent, "lee")


def test_a_spreadsheet_is_read_as_its_table(project: Store, take: Take, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine", reason="python-calamine is not installed")
    book = openpyxl.Workbook()
    for row in (
        ["Query", "Doc ID", "Rating"],
        ["tea", "d1", 3],
        ["green tea", "d3", 0.0],
        ["tea", "d2", None],
    ):
        book.active.append(row)
    book.create_sheet("empty")
    book.save(tmp_path / "ratings.xlsx")
    content = (tmp_path / "ratings.xlsx").read_bytes()
    assert dict(take("judgments", "ratings.xlsx", content, **BY).outcome.left_out) == {"no grade": 1}
    assert judged(project) == {TEA, GREEN}
    book.create_sheet("more").append(["x"])
    book.save(tmp_path / "two.xlsx")
    with pytest.raises(InputError, match=r"2 sheets with rows \(Sheet, more\); expected one"):
        take("judgments", "two.xlsx", (tmp_path / "two.xlsx").read_bytes(), **BY)


def test_without_calamine_a_spreadsheet_is_refused_with_what_to_do(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(
        InputError, match=r"needs python-calamine\n.*pip install python-calamine, or save the table as CSV"
    ):
        take("queries", "a.xlsx", b"PK\x03\x04rest")


ODD: dict[str, tuple[str, str, Any, dict[str, Any], str]] = {
    "query is an object": (
        "queries",
        "a.json",
        [{"text": {"de": "Tee", "en": "tea"}}],
        {"text_field": "text"},
        r"--text-field names 'text', which holds objects: name what is within, as text\.de",
    ),
    "one query is an object": (
        "queries",
        "a.jsonl",
        '{"text": "tea"}\n{"text": {"en": "tea"}}\n',
        {},
        r"line 2: 'text' is an object; expected a text",
    ),
    "session is an object": (
        "traffic",
        "a.json",
        [{"query": "tea", "session": {"id": "s1"}}],
        {"session_field": "session"},
        r"--session-field names 'session', which holds objects: name what is within, as session\.id",
    ),
    "no date is readable": (
        "traffic",
        "a.csv",
        "query,time\ntea,spring\nmate,autumn\n",
        {},
        r"no time in 'time' could be read, such as 'spring' on line 2\n.*--time-field",
    ),
    "no date of a judgment is": (
        "judgments",
        "a.csv",
        "query,document,rater,grade,submitted_at\ntea,d1,ann,3,spring\n",
        {},
        "no time in 'submitted_at' could be read",
    ),
    "rejected": (
        "judgments",
        "a.jsonl",
        LINES(json.dumps(row | {"answer": "reject"}) for row in PRODIGY),
        {},
        "line 1: 3 rows say answer: reject.*--grade-field answer --grade-map accept=3,reject=0",
    ),
    "grades by word": (
        "judgments",
        "a.csv",
        "query,document,rater,grade\ntea,d1,ann,Great\ntea,d2,ann,Great\ngreen tea,d3,ann,bad\n",
        {"grade_map": "x=1"},
        r"line 2: grade 'Great' is not in.*\(on 2 lines\).*line 4: grade 'bad'.*'x=1,Great=\?,bad=\?'",
    ),
    "not its form": (
        "judgments",
        "a.json",
        [{"data": {"query": "tea"}, "annotations": [{"result": 3}]}],
        BY,
        "entry 1: has the keys of Label Studio, and another form",
    ),
    "query is a list of messages": (
        "queries",
        "a.jsonl",
        '{"user_input": [{"content": "tea", "type": "human"}], "reference": "a leaf"}\n',
        {},
        "line 1: 'user_input' is a list of objects; expected a text.*--text-field",
    ),
    "one query of a table is an object": (
        "queries",
        "a.csv",
        'id,query\n1,tea\n2,"{""messages"": [{""content"": ""mate""}]}"\n',
        {},
        "line 3: 'query' is an object; expected a text.*--text-field",
    ),
    "rejected by a status": (
        "judgments",
        "a.csv",
        "query,docid,rating,Status\ntea,d1,3,approved\ntea,d2,3,rejected\n",
        BY,
        "line 3: 1 row says Status: rejected, this one first",
    ),
    "two labels": (
        "judgments",
        "a.json",
        [DOCCANO[0] | {"label": ["Great", "Good"]}],
        BY,
        r"grade 'Great \+ Good' is not.*--grade-map 'Great \+ Good=\?'",
    ),
    "reference is no text": (
        "answers",
        "a.json",
        [{"query": "tea", "answer": "a bag", "target": [{"id": "d1"}]}],
        {},
        "entry 1: 'target' is no text; expected one, or a list of them",
    ),
    "reference is within an object": (
        "answers",
        "a.json",
        [{"query": "tea", "answer": "a bag", "target": {"say": "a leaf"}}],
        {},
        "next to 'target', 'answer' may be what a system answered",
    ),
    "two objects have it": (
        "queries",
        "a.json",
        [{"inputs": {"question": "tea"}, "outputs": {"question": "mate"}}],
        {},
        r"no column is known to hold the query's text.*'inputs\.question', 'outputs\.question'",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_what_cannot_be_right_is_refused_with_what_to_say(take: Take, name: str) -> None:
    what, file, content, options, expected = ODD[name]
    with pytest.raises(InputError) as refused:
        take(what, file, content, **options)
    assert re.search(expected, str(refused.value), re.DOTALL), str(refused.value)


def test_a_path_names_what_is_within_objects_and_an_import_says_what_it_did_not_use(
    project: Store, take: Take
) -> None:
    rows = [{"trace": {"q": "tea", "hit": {"key": "d1"}}, "who": "ann", "score": 3, "cost": 0.1}]
    found = take(
        *("judgments", "a.json", rows),
        **{"query_field": "trace.q", "document_field": "trace.hit.key", "annotator_field": "who"},
    )
    assert judged(project) == {TEA}
    assert (
        "Fields used: query trace.q, document trace.hit.key, grade score, annotator who; not used: cost."
        in (found.outcome.remarks)
    )


def test_pyterriers_docno_is_the_document_and_docid_its_own_number(project: Store, take: Take) -> None:
    """terrier-org/pyterrier: the columns of a result frame."""
    found = take("runs", "bm25.csv", "qid,docid,docno,rank,score,query\ntea,17,d1,0,9.5,tea\n", name="bm25")
    assert (found.record.fields.document, found.record.entries) == ("docno", 1)
