"""A test collection at once: recognised, told, rehearsed, and imported whole or not at all."""

from __future__ import annotations

import gzip
import json
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.core.errors import InputError
from curation.ingest import collection_files
from curation.ingest.importers.corpus import CorpusImport
from curation.ingest.requests import CollectionRequest
from curation.operations.import_collection import CollectionImport, import_collection
from curation.store import Store
from curation.store.staging import list_leftovers
from tests.support.command_line import invoke
from tests.support.projects import all_rows, rows_of

pytestmark = pytest.mark.slow

Refused = Callable[..., InputError]
NIST = CollectionRequest(annotator="nist")
DOCS = """<DOC>
<DOCNO> AP1 </DOCNO>
<HEAD>Ships &amp; trains</HEAD>
<DATELINE>OSLO</DATELINE>
<TEXT>
   First paragraph
goes on.
   Second <F P=1>one</F>.
</TEXT>
</DOC>
<doc><docno>AP2</docno><text>Two</text><text>parts</text></doc>
"""
TOPICS = """<top>

<num> Number: 301
<title> Topic: Organized
Crime

<desc> Description:
Who does it, and
where?

<narr> Narrative:
Groups are relevant.
Persons are not.

</top>
<top><num> Number: 302 </num><desc> Description: Poliomyelitis today </desc></top>
"""
QRELS = "301 0 AP1 1\n301 0 AP2 0\n302 0 AP2 2\n302 0 AP1 -1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    def make(files: dict[str, str | bytes]) -> Path:
        root = tmp_path / "collection"
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    return make


def _corpus(imported: CollectionImport) -> CorpusImport:
    assert imported.corpus is not None
    return imported.corpus


def _grades(store: Store) -> list[tuple[Any, ...]]:
    return rows_of(store, "SELECT query_id, document_id, grade FROM current_judgments ORDER BY ALL")


def test_trecs_sgml_is_taken_with_its_unclosed_tags(store: Store, folder: Callable[..., Path]) -> None:
    packed = gzip.compress(DOCS.encode())
    root = folder({"docs/ap.gz": packed, "topics.301-302": TOPICS, "qrels.txt": QRELS, "README": "about"})
    imported = import_collection(store, root, NIST)
    assert (imported.style, [file.found for file in imported.files]) == (
        "trec",
        ["TREC documents", "TREC topics", "TREC qrels"],
    )
    assert [(file.path.name, file.found) for file in imported.passed] == [
        ("README", "a description of the collection, by its name")
    ]
    documents = rows_of(store, "SELECT document_id, title, body, metadata::TEXT FROM documents ORDER BY 1")
    assert documents[0][:3] == ("AP1", "Ships & trains", "First paragraph goes on.\nSecond one .")
    assert json.loads(documents[0][3]) == {"dateline": "OSLO"}
    assert documents[1][:3] == ("AP2", "", "Two\nparts")
    assert rows_of(store, "SELECT query_id, text, information_need FROM queries ORDER BY 1") == [
        ("301", "Organized Crime", "Who does it, and where?\nGroups are relevant. Persons are not."),
        ("302", "Poliomyelitis today", None),
    ]
    assert _grades(store) == [("301", "AP1", 1), ("301", "AP2", 0), ("302", "AP2", 2)]
    assert imported.judgments[0].left_out == {"pooled, not judged (-1)": 1}


def test_topics_in_xml_have_their_number_in_an_attribute(store: Store, folder: Callable[..., Path]) -> None:
    topics = """<?xml version="1.0"?>
<topics>
  <topic number="1">
    <query>coronavirus origin</query>
    <question>what is the origin of COVID-19</question>
    <narrative>seeking information</narrative>
  </topic>
</topics>"""
    import_collection(store, folder({"topics.xml": topics}))
    assert rows_of(store, "SELECT query_id, text, information_need FROM queries") == [
        ("1", "coronavirus origin", "what is the origin of COVID-19\nseeking information")
    ]


def _document(number: str, text: str) -> str:
    return f"<DOC>\n<DOCNO>{number}</DOCNO>\n<TEXT>{text}</TEXT>\n</DOC>\n"


def test_the_documents_of_several_files_are_one_corpus(store: Store, folder: Callable[..., Path]) -> None:
    """Each file was the corpus for a while, so readers saw a part of it."""
    root = folder(
        {"a.sgml": _document("1", "x"), "b.sgml": _document("2", "y"), "c.sgml": _document("1", "x")}
    )
    command = ["--project", str(store.path), "import", "collection", str(root)]
    assert "3 files of documents: The corpus now has 2 documents." in invoke(command).stdout
    assert rows_of(store, "SELECT documents, source FROM corpus_snapshots") == [(2, "a.sgml and 2 more")]
    again = _corpus(import_collection(store, root))
    assert (again.is_new, again.unchanged) == (False, 2)


def test_an_id_with_two_texts_in_two_files_is_refused(folder: Callable[..., Path], refused: Refused) -> None:
    """The second text came in the place of the first one."""
    root = folder({"a.sgml": _document("1", "x"), "b.sgml": _document("2", "y") + _document("1", "z")})
    message = str(refused(import_collection, root, dry_run=True))
    assert f"{root / 'b.sgml'}: line 5: document '1' has a different text on line 1 of {root}" in message


def test_the_copy_of_a_rehearsal_is_where_leftovers_are_looked_for(
    store: Store, folder: Callable[..., Path]
) -> None:
    """It was in the folder for temporary files, and nobody found it after a kill."""
    root, seen = folder({"docs.sgml": DOCS}), list[Path]()

    def progress(what: str, done: int, total: int) -> None:
        (copy,) = store.path.parent.glob(".*rehearsal*")
        assert stat.S_IMODE(copy.stat().st_mode) == 0o700
        assert (copy / store.path.name).is_file()
        killed = copy.with_name(f"{copy.name[:-16]}{'0' * 16}")  # as one that nobody holds any more
        killed.mkdir()
        seen.extend(list_leftovers(store.path.parent))
        killed.rmdir()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_collection(store, root, progress=progress)
    assert [file.name[-16:] for file in seen] == ["0" * 16], "and not the one that is held"
    assert not list(store.path.parent.glob(".*rehearsal*"))


TERMINATED = """
import glob, signal, sys
from curation.cli import main
def hear(event, details):
    if event == "open" and str(details[0]).endswith("docs.sgml") and glob.glob("{}/.*rehearsal*"):
        signal.raise_signal(signal.SIGTERM)
sys.addaudithook(hear)
main()
"""


@pytest.mark.slow
def test_a_rehearsal_that_is_terminated_leaves_no_copy(store: Store, folder: Callable[..., Path]) -> None:
    root, beside = folder({"docs.sgml": DOCS}), store.path.parent
    command = [sys.executable, "-c", TERMINATED.format(beside)]
    command += ["--project", str(store.path), "import", "collection", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "")
    assert not list(beside.glob(".*rehearsal*"))


def test_a_dry_run_says_it_all_and_neither_it_nor_a_second_import_changes_anything(
    store: Store, folder: Callable[..., Path]
) -> None:
    root = folder({"docs.sgml": DOCS, "topics": TOPICS, "qrels": QRELS})
    before = all_rows(store)
    imported = import_collection(store, root, NIST, dry_run=True)
    assert (_corpus(imported).added, imported.queries[0].added, imported.judgments[0].judgments) == (2, 2, 3)
    assert all_rows(store) == before
    import_collection(store, root, NIST)
    before = all_rows(store)
    again = import_collection(store, root, NIST)
    assert (_corpus(again).is_new, again.queries[0].added, again.judgments[0].unchanged) == (False, 0, 3)
    assert all_rows(store) == before


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("qrels", "301 0 ZZ9 1\n", "line 1: the project has no document 'ZZ9'"),
        ("topics", "<top>\n<num> Number: 301\n<title> x\n", "line 1: <top> has no </top> before the end"),
        ("topics", "<top><title>x</title></top>\n", "line 1: a topic without an id"),
        ("docs.sgml", "<DOC><DOCNO>1</DOCNO>\n<DOC>\n</DOC>\n", "line 1: <DOC> has no </DOC> before line 2"),
        ("docs.sgml", DOCS + "lost\n", "line 12: text outside of documents and topics: 'lost'"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_nothing_is_written(
    folder: Callable[..., Path], refused: Refused, name: str, content: str, sentence: str
) -> None:
    root = folder({"docs.sgml": DOCS, "topics": TOPICS, "qrels": QRELS, name: content})
    message = str(refused(import_collection, root, NIST))
    assert sentence in message
    assert name in message


def test_nobody_is_guessed_to_have_judged(store: Store, folder: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="does not name their annotators"):
        import_collection(store, folder({"docs.sgml": DOCS, "qrels": QRELS}))


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"a.sgml": DOCS, "corpus.jsonl": '{"_id": "1", "text": "x"}\n'}, "several collection formats"),
        (
            {"corpus-queries.jsonl": '{"_id": "1", "text": "x"}\n'},
            "the name could mean documents and queries",
        ),
        ({"notes.txt": "hello\n"}, "notes.txt: not in a known format of test collections"),
        ({"r.trec": "1 Q0 d 1 2.0 t\n"}, "a run"),
    ],
)
def test_what_could_be_two_things_or_is_nothing_known_is_refused(
    folder: Callable[..., Path], refused: Refused, files: dict[str, str], sentence: str
) -> None:
    assert sentence in str(refused(import_collection, folder(files), NIST))


def test_of_several_forms_the_one_that_is_named_is_taken(store: Store, folder: Callable[..., Path]) -> None:
    root = folder({"a.sgml": DOCS, "corpus.jsonl": '{"_id": "1", "text": "x"}\n'})
    imported = import_collection(store, root, CollectionRequest(format="beir"))
    assert (_corpus(imported).documents, [file.found for file in imported.passed]) == (
        1,
        ["TREC documents, not beir"],
    )


def test_a_beir_folder_is_taken_with_all_its_qrels(store: Store, folder: Callable[..., Path]) -> None:
    root = folder(
        {
            "corpus.jsonl": '{"_id": "d1", "title": "t", "text": "x"}\n{"_id": "d2", "text": "y"}\n',
            "queries.jsonl": '{"_id": "1", "text": "a"}\n{"_id": "2", "text": "b"}\n',
            "qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\td1\t1\n",
            "qrels/train.tsv": "query-id\tcorpus-id\tscore\n2\td2\t1\n",
        }
    )
    mapped = CollectionRequest(annotator="beir", grade_map="1=3")
    imported = import_collection(store, root, mapped)
    assert (imported.style, len(imported.judgments)) == ("beir", 2)
    assert _grades(store) == [("1", "d1", 3), ("2", "d2", 3)]


def test_a_hugging_face_folder_is_taken_with_its_shards(store: Store, folder: Callable[..., Path]) -> None:
    root = folder({"README.md": "---\n---\n", "queries/queries.jsonl": '{"_id": "1", "text": "a"}\n'})
    (root / "corpus").mkdir()
    (root / "data").mkdir()
    for number in (0, 1):
        shard = pa.table({"_id": [f"d{number}"], "title": [""], "text": [f"text {number}"]})
        pq.write_table(shard, root / "corpus" / f"corpus-0000{number}-of-00002.parquet")
    qrels = pa.table({"query-id": ["1"], "corpus-id": ["d1"], "score": [2]})
    pq.write_table(qrels, root / "data" / "test-00000-of-00001.parquet")
    imported = import_collection(store, root, NIST)
    assert (imported.style, _corpus(imported).documents, _grades(store)) == ("hf", 2, [("1", "d1", 2)])


def test_of_a_file_alone_nothing_beside_it_is_looked_at(store: Store, folder: Callable[..., Path]) -> None:
    """A table elsewhere below its folder made it one of another format."""
    root = folder({"corpus.jsonl": '{"_id": "1", "text": "x"}\n', "elsewhere/any.parquet": b"PAR1"})
    assert import_collection(store, root / "corpus.jsonl", dry_run=True).style == "beir"


def test_a_folder_is_listed_up_to_its_limit(
    folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = folder({"a/1": "", "a/2": "", ".git/3": "", ".4": ""})
    monkeypatch.setattr(collection_files, "MAX_FILES", 2)
    with pytest.raises(InputError, match="no test collection was found"):
        collection_files.find_collection(root)
    monkeypatch.setattr(collection_files, "MAX_FILES", 1)
    with pytest.raises(InputError, match="more than 1 files; expected a collection of at most 1") as refused:
        collection_files.find_collection(root)
    assert "Parquet files and tables cannot" in str(refused.value)


def test_the_command_says_what_each_file_was_taken_for(store: Store, folder: Callable[..., Path]) -> None:
    root = folder({"docs.sgml": DOCS, "topics": TOPICS, "qrels": QRELS, "run": "1 Q0 d 1 2.0 t\n"})
    command = ["--project", str(store.path), "import", "collection", str(root), "--annotator", "nist"]
    dry = invoke([*command, "--dry-run"], catch_exceptions=False)
    assert "Dry run: nothing was changed." in dry.stdout
    done = invoke(command, catch_exceptions=False)
    shown = " ".join(done.stdout.split())
    for part in ("TREC documents", "TREC topics", "passed over: a run", "docs.sgml: The corpus now has 2"):
        assert part in shown
    again = json.loads(invoke([*command, "--json"]).stdout)
    assert (again["style"], again["dry_run"], again["judgments"][0]["unchanged"]) == ("trec", False, 3)
