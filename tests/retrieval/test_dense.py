"""Dense retrieval and the store of embeddings: computed once, resumed, never mixed."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from curation.core.errors import NotFoundError, RefusedError
from curation.core.request import DEFAULT_MODEL
from curation.retrieval import Dense, Hit
from curation.retrieval import embeddings as stored
from curation.retrieval.embedding_model import find_model
from curation.retrieval.embeddings import embed
from curation.store import Store
from curation.store.row_types import Document, Query
from tests.support.pool_project import put_vectors

CHUNK = 32
TEXTS = [
    f"{colour} {thing}"
    for colour in ("red", "blue", "old")
    for thing in ("hat", "shoe", "coat", "bag", "lamp", "desk", "book", "cup", "bike", "tent", "pen", "fork")
]

KILLED = f"""
import os, signal, sys
from pathlib import Path
from curation.retrieval import embeddings
from curation.store import open_store

embeddings.CHUNK = {CHUNK}

def progress(step, done, total):
    if done >= {CHUNK}:
        os.kill(os.getpid(), signal.SIGKILL)

texts = Path(sys.argv[2]).read_text().splitlines()
embeddings.embed(open_store(Path(sys.argv[1])), texts, progress=progress)
"""


def count(store: Store) -> int:
    with store.reading() as cursor:
        return int(cursor.execute("SELECT count(*) FROM embeddings").fetchall()[0][0])


def query(text: str) -> Query:
    return Query("q", text, text, "written")


@pytest.mark.usefixtures("embedding_model")
def test_half_precision_changes_a_vector_by_less_than_the_model_is_told_apart_by(store: Store) -> None:
    exact, half = embed(store, TEXTS[:2], "query"), embed(store, TEXTS[:2], "document", half=True)
    assert (exact * half).sum(axis=1) == pytest.approx(1, abs=1e-3)


@pytest.mark.usefixtures("embedding_model")
def test_a_model_that_is_not_here_is_not_looked_for_elsewhere(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **_: asked.append(address) or [])
    with pytest.raises(
        RefusedError, match=r"The model nobody/none cannot be loaded: the model is not on this machine"
    ):
        embed(store, TEXTS[:1], model="nobody/none", ask_hub=False)
    embed(store, TEXTS[:1], ask_hub=False)
    assert not asked


@pytest.mark.costly("two processes load the embedding model")
@pytest.mark.usefixtures("embedding_model")
def test_embedding_goes_on_where_kill_9_stopped_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "CHUNK", CHUNK)
    (tmp_path / "texts").write_text("\n".join(TEXTS))
    store.close()
    command = [sys.executable, "-c", KILLED, str(store.path), str(tmp_path / "texts")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert count(store) == CHUNK + 1  # and the probe of the model
    steps: list[tuple[int, int]] = []
    vectors = embed(store, TEXTS, progress=lambda _, done, total: steps.append((done, total)))
    assert steps == [(0, 0), (CHUNK, len(TEXTS)), (len(TEXTS), len(TEXTS))], "first the model is loaded"
    assert vectors.shape == (len(TEXTS), 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    steps.clear()
    again = embed(store, TEXTS, progress=lambda _, done, total: steps.append((done, total)))
    assert steps == []
    assert np.array_equal(again, vectors)
    assert count(store) == len(TEXTS) + 1


@pytest.mark.usefixtures("embedding_model")
def test_meaning_finds_what_words_do_not(store: Store) -> None:
    corpus = [
        Document("car", "", "Automobile", "A vehicle with four wheels and an engine."),
        Document("cat", "", "Cat", "A small animal that purrs."),
        Document("copy", "", "Cat", "A small animal that purrs."),
        Document("none", "", "", " "),
    ]
    engine = Dense(store, corpus)
    hits, nothing = engine.search([query("a kitten"), query("?!")], 10)
    assert [hit.document_id for hit in hits][:2] == ["cat", "copy"]
    assert hits[0].score == hits[1].score > 0.3
    assert "none" not in [hit.document_id for hit in hits]
    assert nothing == []
    assert engine.explain_no_hits(query("?!")) == "the query has no words"
    assert engine.search([query("a kitten")], 1) == [hits[:1]]
    assert count(store) == 4  # two texts, one query, the probe
    with store.transaction() as cursor:
        cursor.execute("DELETE FROM embeddings")
    assert engine.search([query("a kitten")], 10) == [hits]  # both are in memory
    assert count(store) == 0


@pytest.mark.usefixtures("embedding_model")
def test_a_model_that_was_exchanged_is_refused(store: Store) -> None:
    put_vectors(store, "probe", {stored._PROBE: [1.0] + [0.0] * 383})
    with pytest.raises(RefusedError, match="did not make the vectors"):
        embed(store, ["red hat"])
    assert count(store) == 1


@pytest.mark.usefixtures("embedding_model")
def test_a_model_of_another_dimension_is_refused(store: Store) -> None:
    put_vectors(store, "document", {"some text": [0.6, 0.8]})
    with pytest.raises(RefusedError, match="have 2 dimensions, and the model now gives 384"):
        embed(store, ["red hat"])
    assert count(store) == 1


def test_stored_vectors_are_read_without_the_model(store: Store) -> None:
    put_vectors(store, "document", {"red hat": [0.6, 0.8], "blue hat": [1.0, 0.0]})
    vectors = embed(store, ["blue hat", "red hat", "blue hat"])
    assert vectors.tolist() == np.array([[1, 0], [0.6, 0.8], [1, 0]], np.float32).tolist()
    assert embed(store, []).shape[0] == 0


def test_vectors_of_two_lengths_under_one_name_are_refused(store: Store) -> None:
    put_vectors(store, "document", {"red hat": [0.6, 0.8]})
    put_vectors(store, "document", {"blue hat": [1.0, 0.0, 0.0]})
    with pytest.raises(RefusedError, match="have 2 dimensions, and the model now gives 3"):
        embed(store, ["blue hat", "red hat"])


def test_cosines_of_zero_or_below_are_no_hits_and_ties_go_by_id(store: Store) -> None:
    corpus = [Document(name, "", "", text) for name, text in (("b", "x"), ("a", "y"), ("c", "z"), ("d", "w"))]
    put_vectors(store, "document", {"x": [1, 0], "y": [1, 0], "z": [0, 1], "w": [-1, 0]})
    put_vectors(store, "query", {"asked": [1, 0]})
    engine = Dense(store, corpus)
    assert engine.search([query("asked")], 10) == [[Hit("a", 1.0), Hit("b", 1.0)]]
    assert engine.search([query("asked")], 1) == [[Hit("a", 1.0)]]


def test_a_model_is_a_name_or_a_folder_that_exists(tmp_path: Path) -> None:
    (tmp_path / "tuned").mkdir()
    assert find_model(str(tmp_path / "tuned")) == ("tuned", str(tmp_path / "tuned"))
    assert find_model("sentence-transformers/all-MiniLM-L6-v2").name == DEFAULT_MODEL
    assert find_model("intfloat/e5-small-v2").name == "intfloat/e5-small-v2"
    for missing in (str(tmp_path / "none"), "./none", "models/of/mine"):
        with pytest.raises(NotFoundError, match="There is no model folder at"):
            find_model(missing)


def test_a_file_is_no_model(store: Store, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    with pytest.raises(NotFoundError, match=r"model.safetensors is a file, not a model. Give the folder"):
        Dense(store, [], str(tmp_path / "model.safetensors"))


@pytest.mark.usefixtures("embedding_model")
def test_a_folder_that_holds_no_model_gives_a_sentence(store: Store, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RefusedError, match=r"The model .*empty cannot be loaded: .*pip install gt-all"):
        embed(store, ["red hat"], model=str(tmp_path / "empty"))
