"""Unknown ids that people read as known ones: every import of a file says by what alone the two differ."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.core.characters import describe_lookalike, find_lookalikes
from curation.core.errors import InputError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.decision_lines import read_decision_lines
from curation.ingest.importers.nuggets import import_nuggets
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.reference_answers import import_answers
from curation.ingest.importers.run_import import import_run
from curation.labeling.consensus.adjudication import import_decisions
from curation.labeling.imported import import_judgments
from curation.store import Store
from curation.store.documents import ids_alike
from tests.support.projects import add_names

DECOMPOSED = unicodedata.normalize("NFD", "Café")
PAIRS = [
    ("Café", DECOMPOSED, "its Unicode form"),
    ("d1", "d\u200b1", "invisible characters"),
    ("d1", "\ufeffd1", "invisible characters"),
    ("d1", "d1\u200e", "invisible characters"),
    ("d1", "d\uff11", "its Unicode form"),
    ("d1", "D1", "upper and lower case"),
    ("a b", "a\xa0b", "white space"),
    ("a b", "a  b", "white space"),
    ("d1", "\ufeffD1", "invisible characters and upper and lower case"),
]


@pytest.mark.parametrize(("known", "name", "differs"), PAIRS)
def test_what_alone_two_names_differ_by(
    store: Store, write: Callable[..., Path], known: str, name: str, differs: str
) -> None:
    assert describe_lookalike(name, known) == describe_lookalike(known, name) == differs
    assert find_lookalikes([name], ["x", known]) == {name: known}
    import_corpus(store, write("corpus.jsonl", [{"id": known, "text": "t"}, {"id": "x", "text": "u"}]))
    assert ids_alike(store, [name, "y"]) == {name: known}


def test_names_that_people_can_tell_apart_are_not_alike() -> None:
    for name, other in (("d1", "d2"), ("d1", "d1"), ("a b", "ab"), ("é", "e"), ("ö", "oe"), ("\u212a", "x")):
        assert describe_lookalike(name, other) == ""
        assert find_lookalikes([name], [other]) == {}


@pytest.fixture
def judged(store: Store, write: Callable[..., Path]) -> Store:
    """A document and a query whose ids have an é, judged by ann; rae decides."""
    add_names(store, "rae", role="reviewer")
    import_corpus(store, write("corpus.jsonl", [{"id": "Café", "text": "coffee"}]))
    import_queries(store, write("queries.jsonl", [{"id": "é1", "text": "coffee"}]))
    import_judgments(store, write("j.csv", "query_id,document,annotator,grade\né1,Café,ann,2\n"))
    return store


Import = Callable[[Store, Path], Any]
FILES: dict[str, tuple[str, str, Import]] = {
    "judgments": ("j.csv", "query_id,document,annotator,grade\né1,Café,ann,2\n", import_judgments),
    "a run": ("run.trec", "é1 Q0 Café 1 2.0 x\n", lambda store, path: import_run(store, path, "r")),
    "answers": ("a.csv", "query_id,answer\né1,hot\n", import_answers),
    "nuggets": ("n.csv", "query_id,nugget,importance\né1,hot,vital\n", import_nuggets),
    "decisions": (
        "d.csv",
        "query_id,document,grade,reason\né1,Café,2,why\n",
        lambda store, path: import_decisions(store, read_decision_lines(path), "rae", source=path),
    ),
}
IMPORTS = [(what, known) for what, (_, text, _) in FILES.items() for known in ("é1", "Café") if known in text]


@pytest.mark.parametrize(("what", "known"), IMPORTS)
def test_every_import_names_the_id_that_an_unknown_one_looks_like(
    judged: Store, write: Callable[..., Path], what: str, known: str
) -> None:
    name, text, call = FILES[what]
    with pytest.raises(InputError, match=f"differs from the known '{known}' by its Unicode form"):
        call(judged, write(name, text.replace(known, unicodedata.normalize("NFD", known))))


def test_what_is_left_out_as_unknown_is_counted_apart_where_it_looks_like_a_known_one(
    judged: Store, write: Callable[..., Path]
) -> None:
    rows = f"é1,{DECOMPOSED},ann,1\né1,other,ann,1\né1,Café,bo,1\n"
    path = write("j2.csv", f"query_id,document,annotator,grade\n{rows}")
    assert import_judgments(judged, path, skip_unknown=True).left_out == {
        "unknown document that differs from a known id by its Unicode form": 1,
        "unknown document": 1,
    }
