"""Files in the formats of other tools go in as they are: each as the source or the documentation says."""

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
from curation.ingest.importers.reference_answers import read_answers
from curation.ingest.preview import preview_file
from curation.ingest.requests import CollectionRequest, make_request, set_columns
from curation.operations.import_collection import import_collection
from curation.operations.import_file import import_file
from curation.operations.import_jobs import dry_run
from curation.store import Store
from tests.support.projects import rows_of

Take = Callable[..., Any]


@pytest.fixture
def take(project: Store, tmp_path: Path) -> Take:
    """take("queries", "a.json", content, annotator="ann"): the import of such a file, with these options."""

    def import_it(what: str, file: str, content: Any, **options: Any) -> Any:
        path = tmp_path / file
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        fields = {
            name.removesuffix("_field"): options.pop(name) for name in list(options) if "_field" in name
        }
        asked = make_request(what, path, fields, **options)
        return import_file(project, asked, silent, "lee")

    return import_it


def judged(store: Store) -> set[tuple[Any, ...]]:
    columns = "q.text, document_id, annotator, grade"
    return set(rows_of(store, f"SELECT {columns} FROM current_judgments JOIN queries q USING (query_id)"))


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
    {"id": number, "text": "The body.", "query": query, "doc_id": document, "label": label, "Comments": []}
    for number, (query, document, label) in enumerate(
        [("tea", "d1", ["Exactly it"]), ("green tea", "d3", ["not relevant"]), ("green tea", "d4", [])]
    )
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
    # opensearch-project/search-relevance: a judgment list as it is sent
    "srw judgments": (
        "judgments.json",
        {
            "judgmentRatings": [
                {"query": "tea", "ratings": [{"docId": "d1", "rating": "3.0"}]},
                {"query": "green tea", "ratings": [{"docId": "d3", "rating": "0.0"}]},
            ]
        },
        BY,
    ),
    # Elasticsearch reference, Ranking evaluation API
    "_rank_eval": ("body.json", RANK_EVAL, BY),
    # labelstud.io, Label Studio task format
    "label studio": ("export.json", LABEL_STUDIO, {}),
    # argilla-io/argilla: argilla/src/argilla/records/_resource.py, Record.to_dict
    "argilla": ("records.json", ARGILLA, {}),
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
    # deepset-ai/haystack 1.x: rest_api, export of labels
    "haystack": ("labels.json", HAYSTACK, BY | {"grade_map": "true=3,false=0"}),
}

NO_JUDGMENTS = {
    "quepid case csv": {"no grade": 1},
    "quepid case json": {"no grade": 1},
    "quepid book json": {"no grade": 1},
    "label studio": {"no grade": 2},
    "argilla flat": {"no grade": 2},
    "prodigy": {"marked ignore": 1},
    "doccano": {"no grade": 1},
}


@pytest.mark.parametrize("tool", JUDGMENTS)
def test_judgments_of_other_tools_go_in_as_they_are(project: Store, take: Take, tool: str) -> None:
    name, content, options = JUDGMENTS[tool]
    outcome = take("judgments", name, content, **options).outcome
    assert judged(project) == {TEA, GREEN}
    assert dict(outcome.left_out) == NO_JUDGMENTS.get(tool, {})
    assert outcome.remarks[0].startswith(("Fields used: ", "These annotators are known"))
    assert not re.search(r"not used:.*\b(rel|accept)\b", " ".join(outcome.remarks))


def test_queries_of_judged_files_are_taken_once_without_grades(project: Store, take: Take) -> None:
    for name, content in (("case.json", QUEPID_CASE), ("book.json", QUEPID_BOOK)):
        take("queries", name, content)
    rows = rows_of(project, "SELECT text, information_need, metadata::TEXT FROM queries")
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
    "srw ndjson": (
        "set.ndjson",
        '{"queryText": "tea", "referenceAnswer": "a leaf"}\n{"queryText": "mate"}\n',
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
    asked = make_request(what, path, **options)
    fields = preview_file(asked).fields | ({"annotator": ""} if options else {})
    imported = dry_run(project, asked, "lee")
    assert imported.outcome is not None
    assert imported == dry_run(project, set_columns(asked, fields), "lee")


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


@pytest.mark.parametrize("answer", ["answer", "response"])
def test_an_answer_next_to_the_contexts_of_a_system_is_asked_for(
    project: Store, take: Take, answer: str
) -> None:
    content = [{"question": "tea", answer: "a bag", "contexts": ["x"]}]
    with pytest.raises(InputError, match=f"'{answer}' may hold a system's answers.*--map reference={answer}"):
        take("answers", "a.json", content)
    take("answers", "a.json", content, reference_field=answer)
    assert answers(project) == {"tea": ("a bag",)}


def test_a_zip_of_beir_is_a_collection(project: Store, tmp_path: Path) -> None:
    """BEIR's own archives."""
    parts = {
        "shop/corpus.jsonl": '{"_id": "d1", "title": "", "text": "A leaf."}\n',
        "shop/queries.jsonl": '{"_id": "tea", "text": "tea"}\n',
        "shop/qrels/test.tsv": "query-id\tcorpus-id\tscore\ntea\td1\t1\n",
    }
    with zipfile.ZipFile(tmp_path / "shop.zip", "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    options = CollectionRequest(annotator="ann", grade_map="1=3", add=True)
    imported = import_collection(project, tmp_path / "shop.zip", options, author="lee")
    assert [file.kind for file in imported.files] == ["documents", "queries", "judgments"]
    assert imported.files[0].path.relative_to(tmp_path).parts[0] == "shop.zip"
    assert judged(project) == {TEA}


def test_a_zip_that_unpacks_to_more_than_can_be_meant_is_refused(
    project: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curation.ingest.readers.bounds.MAX_UNPACKED", 1_000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("corpus.jsonl", "x" * 1_000_000)
    (tmp_path / "bomb.xlsx").write_bytes((tmp_path / "bomb.zip").read_bytes())
    with pytest.raises(InputError, match="unpacks to more than"):
        import_collection(project, tmp_path / "bomb.zip", author="lee")
    asked = make_request("queries", tmp_path / "bomb.xlsx")
    with pytest.raises(InputError, match="unpacks to more than"):
        import_file(project, asked, silent, "lee")


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
        r"--map text names 'text', which holds objects: name a value inside the objects, such as text\.de",
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
        "line 1: 3 rows say answer: reject.*--map grade=answer --grade-map accept=3,reject=0",
    ),
    "not its format": (
        "judgments",
        "a.json",
        [{"data": {"query": "tea"}, "annotations": [{"result": 3}]}],
        BY,
        "entry 1: has the keys of Label Studio, but a different structure",
    ),
    "query is a list of messages": (
        "queries",
        "a.jsonl",
        '{"user_input": [{"content": "tea", "type": "human"}], "reference": "a leaf"}\n',
        {},
        "line 1: 'user_input' is a list of objects; expected a text.*--map text=COLUMN",
    ),
    "one query of a table is an object": (
        "queries",
        "a.csv",
        'id,query\n1,tea\n2,"{""messages"": [{""content"": ""mate""}]}"\n',
        {},
        "line 3: 'query' is an object; expected a text.*--map text=query.text",
    ),
    "rejected by a status": (
        "judgments",
        "a.csv",
        "query,docid,rating,Status\ntea,d1,3,approved\ntea,d2,3,rejected\n",
        BY,
        "line 3: 1 row says Status: rejected; this row is the first",
    ),
    "two labels": (
        "judgments",
        "a.json",
        [DOCCANO[0] | {"label": ["Great", "Good"]}],
        BY,
        r"grade 'Great \+ Good' is neither.*--grade-map 'Great \+ Good=\?'",
    ),
    "reference is no text": (
        "answers",
        "a.json",
        [{"query": "tea", "answer": "a bag", "target": [{"id": "d1"}]}],
        {},
        "entry 1: 'target' is not text; expected a text or a list of texts",
    ),
    "reference is within an object": (
        "answers",
        "a.json",
        [{"query": "tea", "answer": "a bag", "target": {"say": "a leaf"}}],
        {},
        "also has the column 'target', so 'answer' may hold a system's answers",
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
    imported = take(
        *("judgments", "a.json", rows),
        **{"query_field": "trace.q", "document_field": "trace.hit.key", "annotator_field": "who"},
    )
    assert judged(project) == {TEA}
    assert (
        "Fields used: query trace.q, document trace.hit.key, grade score, annotator who; not used: cost."
        in (imported.outcome.remarks)
    )
