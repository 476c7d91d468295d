"""Documents in files of their own: what a folder, an archive and a file give, and what they leave out."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.ingest.readers.document_files import rows
from curation.ingest.readers.document_files.rows import FolderRemarks, read_document_rows
from curation.ingest.readers.problems import Problems
from tests.support.document_folder import PAGE, make_pdf, write_documents

LEFT_OUT = {
    "pictures, videos and fonts": 1,
    "scripts, styles and data files": 1,
    "hidden files": 1,
    "empty files": 1,
    "files of other kinds": 1,
    "binary files": 1,
}


def read(path: Path) -> tuple[dict[str, dict[str, Any]], FolderRemarks]:
    """The rows of a path by id, and what was left out."""
    remarks = FolderRemarks()
    read_rows = [row for _, row in read_document_rows(path, Problems(path), remarks)]
    assert len({row["id"] for row in read_rows}) == len(read_rows)
    return {row["id"]: row for row in read_rows}, remarks


def zipped(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder).as_posix())
    return path


def tarred(folder: Path, path: Path) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, ".")
    return path


def test_each_file_of_a_folder_is_a_document_with_the_fields_of_its_front_matter(tmp_path: Path) -> None:
    documents, remarks = read(write_documents(tmp_path / "docs"))
    assert dict(remarks.left_out) == LEFT_OUT
    returns = documents["/help/returns"]
    assert (returns["title"], returns["date"], returns["product"]) == (
        "Return an order",
        "2026-03-01",
        "shop",
    )
    assert returns["tags"] == ["orders", "refunds"]
    assert returns["text"] == "# Returning\n\nSend it back within **30 days**."
    invoice = documents["orders/pay-by-invoice"]
    assert (invoice["title"], invoice["version"]) == ("Pay by invoice", "3")
    assert invoice["date"] == "2026-05-02T10:00:00+00:00"
    size = documents["app/text_size"]
    assert (size["title"], size["description"]) == ("Change a size", "How to change the size of a text.")
    assert documents["app/_index"]["title"] == "App", "the index of a folder is about the folder"
    assert documents["notes/opening hours"]["title"] == "Opening hours"
    assert documents["terms"]["title"] == "Terms of use"
    markups = {row["markup"] for row in documents.values()}
    assert markups == {"markdown", "html", "plain"}


def test_a_web_page_gives_its_main_text_without_menus(tmp_path: Path) -> None:
    documents, _ = read(write_documents(tmp_path / "docs"))
    page = documents["https://shop.example/help/delivery"]
    assert (page["title"], page["description"], page["markup"]) == (
        "Delivery times",
        "How long it takes.",
        "html",
    )
    assert "<b>two</b>" in page["text"]
    assert "<td>Parcel</td>" in page["text"]
    for word in ("Menuword", "Asideword", "Footerword", "scripted", "Home"):
        assert word not in page["text"]


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<header>Top</header><p>Text</p>", "<p>Text</p>"),
        ("<header>Top</header><article><h2>A</h2>Text</article>", "<h2>A</h2>Text"),
        ("<div role='main'><div>A</div>B</div>C", "<div>A</div>B"),
        ("<main>A</main><main>longer</main>", "longer"),
        ("<main>never closed <p>A", "never closed <p>A</p>"),
        ("<article>A</article><article>B</article>", "<article>A</article><article>B</article>"),
    ],
)
def test_the_main_text_is_the_landmark_else_the_body_without_its_header(
    tmp_path: Path, html: str, kept: str
) -> None:
    page = tmp_path / "a.html"
    page.write_text(html, encoding="utf-8")
    documents, _ = read(page)
    assert documents["a"]["text"] == kept


def test_pdf_and_word_files_are_read(tmp_path: Path) -> None:
    documents, _ = read(write_documents(tmp_path / "docs"))
    assert documents["print/warranty"]["text"] == "The warranty ends after two years."
    assert documents["print/contract"]["text"] == "<h1>Contract</h1><p>It runs for a year.</p>"


@pytest.mark.parametrize("name", ["broken.pdf", "broken.docx"])
def test_a_damaged_pdf_or_word_file_is_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    (tmp_path / name).write_bytes(make_pdf("text")[:60])
    documents, remarks = read(tmp_path)
    assert not documents
    assert not caplog.text, "the package prints nothing of its own"
    assert list(remarks.left_out) == [f"damaged {'PDF' if name.endswith('pdf') else 'Word'} files"]


def test_without_its_package_a_pdf_is_left_out_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pypdf", None)
    (tmp_path / "a.pdf").write_bytes(make_pdf("text"))
    _, remarks = read(tmp_path)
    assert list(remarks.left_out) == ["PDF files, which need the package pypdf (pip install pypdf)"]


@pytest.mark.parametrize(("pack", "name"), [(zipped, "docs.zip"), (tarred, "docs.tar.gz")])
def test_an_archive_gives_the_same_documents_as_its_folder(
    tmp_path: Path, pack: Callable[[Path, Path], Path], name: str
) -> None:
    folder = write_documents(tmp_path / "docs")
    documents, remarks = read(folder)
    assert read(pack(folder, tmp_path / name)) == (documents, remarks)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"{number}.md", "0" * 8_000_000)
    with pytest.raises(InputError, match="unpacks to more than 64 MB"):
        read(path)
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(10):
        (folder / f"{number}.md").write_text("0" * 8_000_000)
    with pytest.raises(InputError, match="unpacks to more than 64 MB"):
        read(tarred(folder, tmp_path / "bomb.tar.gz"))


def test_a_path_out_of_the_folder_is_never_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("Secret", encoding="utf-8")
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("A", encoding="utf-8")
    (folder / "out.md").symlink_to(secret)
    (folder / "in.md").symlink_to(folder / "a.md")
    (folder / "etc").symlink_to(tmp_path)
    (folder / "lost.md").symlink_to("/nowhere")
    (folder / "again").symlink_to(folder)
    (folder / "dead.md").symlink_to("gone.md")
    documents, remarks = read(folder)
    assert sorted(documents) == ["a", "in"]
    assert dict(remarks.left_out) == {"links that lead out of the folder": 3, "links within the folder": 2}
    documents, remarks = read(tarred(folder, tmp_path / "docs.tar.gz"))
    assert sorted(documents) == ["a"]
    assert dict(remarks.left_out) == {"links that lead out of the folder": 5, "links within the folder": 1}
    path = tmp_path / "out.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../secret.md", "Secret")
        archive.writestr("a.md", "A")
    documents, remarks = read(path)
    assert list(documents) == ["a"]
    assert dict(remarks.left_out) == {"links that lead out of the folder": 1}


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    for name in ("a.zip", "a.tar.gz", "a.tar"):
        path = tmp_path / name
        path.write_bytes(b"PK\3\4 no archive" * 50)
        with pytest.raises(InputError, match="is a damaged archive"):
            read(path)


def test_names_that_differ_by_case_or_unicode_form_are_named_and_files_of_one_stem_keep_their_endings(
    tmp_path: Path,
) -> None:
    for name in ("Über.md", "U\u0308ber.md", "a.md", "a.html", "B.md", "b.md"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    documents, remarks = read(tmp_path)
    assert set(documents) == {"Über", "U\u0308ber", "a.md", "a.html", "B", "b"}
    assert set(remarks.alike) == {"Über.md", "U\u0308ber.md", "B.md", "b.md"}


@pytest.mark.parametrize(
    "text",
    [
        "---\nA rule, and no front matter.\n---\nText",
        "---\n- a list\n---\nText",
        "---\na: &a [*a]\n---\nText",
        "+++\nno toml\n+++\nText",
        "---\ntitle: never closed\n",
    ],
)
def test_what_is_no_front_matter_stays_in_the_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    documents, _ = read(tmp_path)
    assert documents["a"]["text"] == text.strip("\n")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_of_a_file_is_found(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.md").write_bytes("# Größe\n\n“Zoll”".encode(encoding))
    documents, _ = read(tmp_path)
    assert (documents["a"]["title"], documents["a"]["text"]) == ("Größe", "# Größe\n\n“Zoll”")


def test_a_pages_own_charset_counts(tmp_path: Path) -> None:
    page = PAGE.replace("<head>", '<head><meta charset="iso-8859-2">').replace("two", "\u0142\u0105")
    (tmp_path / "a.html").write_bytes(page.encode("iso-8859-2"))
    documents, _ = read(tmp_path)
    assert "\u0142\u0105" in documents["https://shop.example/help/delivery"]["text"]


def test_the_heading_inside_a_code_block_is_no_title(tmp_path: Path) -> None:
    (tmp_path / "set-up.md").write_text(
        "```sh\n# install\n```\n\n## Steps `now` {#steps}\n", encoding="utf-8"
    )
    documents, _ = read(tmp_path)
    assert documents["set-up"]["title"] == "Steps now"
    assert rows._title_of_file("a/b-c/README.md") == "B c"
