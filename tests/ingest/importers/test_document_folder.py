"""A folder of documents as a corpus: what its import says, what a later import finds, and the warnings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.core.progress import silent
from curation.guides.guide import current_guide
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.requests import CorpusRequest
from curation.operations.import_file import import_file
from curation.store import COMMAND_LINE, Store
from tests.support.document_folder import write_documents

Write = Callable[..., Path]


def import_path(store: Store, path: Path) -> list[str]:
    request = CorpusRequest(str(path))
    return list(import_file(store, request, silent, COMMAND_LINE).outcome.sentences)


def test_a_folder_is_imported_with_what_it_leaves_out_and_shown_in_the_markup_of_each_file(
    store: Store, tmp_path: Path
) -> None:
    sentences = import_path(store, write_documents(tmp_path / "docs"))
    assert sentences[0] == "The corpus now has 9 documents."
    assert "Left out: 1 file: pictures, videos and fonts." in sentences
    assert "The guide now shows each document in the markup of its file." in sentences
    with store.reading() as cursor:
        presentation = current_guide(cursor).presentation
    assert presentation is not None
    assert presentation.body == "file"


def test_a_second_import_finds_changed_new_and_gone_files(store: Store, tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "docs")
    import_corpus(store, folder)
    assert not import_corpus(store, folder).is_new
    (folder / "terms.rst").write_text("Terms of use\n============\n\nBe very kind.\n", encoding="utf-8")
    (folder / "new.md").write_text("New", encoding="utf-8")
    (folder / "delivery.html").unlink()
    result = import_corpus(store, folder)
    assert (result.added, result.changed, result.removed, result.unchanged) == (1, 1, 1, 7)


def test_two_files_with_one_address_are_refused_by_their_names(store: Store, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"---\nurl: /same\n---\n{name}", encoding="utf-8")
    with pytest.raises(InputError, match=r"b\.md: document '/same' has a different text on a\.md"):
        import_corpus(store, tmp_path)


def test_a_folder_without_documents_is_refused_with_what_it_holds(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"1")
    with pytest.raises(InputError, match=r"no documents \(1 file: pictures, videos and fonts\)") as refusal:
        import_corpus(store, folder)
    assert ".docx" in refusal.value.way_out


@pytest.mark.parametrize(
    ("records", "warning"),
    [
        (
            [{"id": "a", "title": "A", "text": "---\ntitle: A\n---\nText"}],
            "The texts begin with front matter",
        ),
        ([{"id": "a", "text": "Text"}], "No column was recognized as the title"),
        (
            [{"id": "a", "title": "A", "text": "T", "teaser": "long " * 30}],
            "The column teaser contains long texts",
        ),
        ([{"id": "2.5", "title": "A", "text": "Text"}], "The ids look like measurements"),
        ([{"id": "2026-01-02", "title": "A", "text": "Text"}], "The ids look like measurements"),
        ([{"id": "true", "title": "A", "text": "Text"}], "The ids look like measurements"),
    ],
)
def test_a_corpus_that_is_probably_not_as_meant_is_imported_with_a_warning(
    store: Store, write: Write, records: list[dict[str, object]], warning: str
) -> None:
    [sentence] = import_corpus(store, write("a.jsonl", records)).warnings
    assert sentence.startswith(warning)
