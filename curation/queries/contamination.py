"""Contamination: project texts that occur in a file with which a model was trained or tuned.

A text of the project is the text of a query, a reference answer, or the body of a document that most
annotators found relevant. A text occurs exactly if its words are in a text of the file, one after the other.
A text occurs nearly if the shingles of both texts are similar: MinHash finds candidates, and the exact
Jaccard similarity decides. The texts of the file are all strings of its records, with their paragraphs and
lines. A match of an answer or a document would reveal grades, so of sealed queries only the text is compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.digests import digest, file_digest
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.reports.tables import QueryName, Table
from curation.core.similarity.pairs import find_similar_pairs, minhash_links
from curation.core.similarity.shingles import character_shingles, word_shingles
from curation.core.text import pluralize
from curation.core.words import split_words
from curation.guides.guide import current_guide
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.readers.records import Records
from curation.people.annotators import require_author
from curation.people.seal_access import read_sealed_queries
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now

QUERY, ANSWER, DOCUMENT = "query", "answer", "document"
KINDS = (((QUERY,), character_shingles, 0.65), ((ANSWER, DOCUMENT), word_shingles, 0.8))
"""Kinds of texts, their shingles, and the smallest similarity of a text that occurs nearly, as in splits."""
MIN_WORDS = 3
"""Fewest words of a text that counts inside a longer text. A shorter text only counts as a whole."""
TEXT_FILES = (".txt", ".md", ".text")
BLOCK = 20_000
"""Number of texts of the file that are compared together."""
EXCERPT = 200
"""Number of characters of a text in the table."""
_ANSWERS = "SELECT query_id, unnest(answers), NULL FROM current_reference_answers"
_DOCUMENTS = """
    SELECT j.query_id, any_value(d.body), j.document_id
    FROM counted_judgments j JOIN documents d USING (content_hash) GROUP BY j.query_id, j.document_id
    HAVING 2 * count(*) FILTER (grade >= ?) > count(grade) ORDER BY j.query_id, j.document_id
"""


class ProjectText(NamedTuple):
    """A query, an answer or a relevant document of the project, with the id of its query."""

    query_id: str
    what: str
    text: str
    document_id: str | None = None


class ContaminationReport(NamedTuple):
    """The report on which of the project's texts occur in a file of training data.

    Attributes
    ----------
    queries, sealed: numbers of all queries, and of sealed queries, of which only the text was compared.
    found: texts with their similarity; 1 is an exact occurrence.
    """

    file: str
    queries: int
    sealed: int
    found: tuple[tuple[ProjectText, float], ...]

    @property
    def sentences(self) -> list[str]:
        """Say how many queries have a text, an answer or a relevant document that occurs in the file."""
        exactly = len({text.query_id for text, similarity in self.found if similarity == 1})
        kinds = Counter(what for _, what in {text[:2] for text, _ in self.found})
        counts = ", ".join(f"{kinds[what]:,} by {what}" for what in (QUERY, ANSWER, DOCUMENT))
        contaminated = len({text.query_id for text, _ in self.found})
        queries = pluralize(self.queries, "query", "queries")
        sealed = pluralize(self.sealed, "sealed query", "sealed queries")
        closed = (
            f"goldgrade did not compare the answers and documents of {sealed}: a match would reveal grades."
        )
        return [
            f"{self.file} contains texts of {contaminated:,} of {queries}; {exactly:,} texts match "
            f"exactly. Matches: {counts}.",
            *([closed] if self.sealed else []),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Make a table of the project's texts that occur in the file."""
        rows = tuple(
            (QueryName(text.text[:EXCERPT], text.query_id), text.what, text.document_id or "", similarity)
            for text, similarity in self.found
        )
        columns = ("text", "what", "document", "similarity")
        return (Table(f"Texts that occur in {self.file}", columns, rows),)


def check_contamination(
    store: Store, path: Path, actor: str = COMMAND_LINE, progress: Progress = silent
) -> ContaminationReport:
    """Find the texts of current queries that occur in a file, and store the result for each query.

    Raises
    ------
    InputError: the file cannot be read.
    RefusedError: the actor is not a lead.
    """
    with store.reading() as cursor:
        require_author(cursor, actor, "lead")
        texts, sealed = _read_texts(cursor)
    similarities = _find_similarities(texts, path, progress)
    found = tuple((texts[index], value) for index, value in sorted(similarities.items()))
    query_ids = {text.query_id for text in texts}
    missing = sorted(query_ids - {text.query_id for text, _ in found if text.what == QUERY})
    rows = [(text.query_id, text.what, text.document_id, value) for text, value in found]
    rows += [(query_id, QUERY, None, 0.0) for query_id in missing]
    facts = {"file": path.name, "file_hash": file_digest(path), "author": actor, "checked_at": utc_now()}
    with store.transaction(appends=True) as cursor:
        append_rows(cursor, "contamination", rows, ("query_id", "what", "document_id", "similarity"), **facts)
        record_event(cursor, "check contamination", {"file": path.name, "found": len(found)}, actor)
    return ContaminationReport(path.name, len(query_ids), sealed, found)


def _read_texts(cursor: Cursor) -> tuple[list[ProjectText], int]:
    """Read the texts of the current queries, and count the sealed queries among them."""
    queries, sealed = read_active_queries(cursor), read_sealed_queries(cursor)
    open_ids = {query.query_id for query in queries} - sealed.keys()
    relevant = current_guide(cursor).values[1]
    texts = [ProjectText(query.query_id, QUERY, query.text) for query in queries]
    for what, sql, values in ((ANSWER, _ANSWERS, []), (DOCUMENT, _DOCUMENTS, [relevant])):
        rows = cursor.execute(sql, values).fetchall()
        texts += [ProjectText(row[0], what, *row[1:]) for row in rows if row[0] in open_ids]
    return texts, len(queries) - len(open_ids)


def _find_similarities(texts: Sequence[ProjectText], path: Path, progress: Progress) -> dict[int, float]:
    """Find each text's highest similarity to the texts in the file, by the text's index."""
    similarities: defaultdict[int, float] = defaultdict(float)
    words_of = [tuple(split_words(text.text)) for text in texts]
    starts: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, words in enumerate(words_of):
        if len(words) >= MIN_WORDS:
            starts[words[:MIN_WORDS]].append(index)
    passages = read_passages(path)
    while block := list(islice(passages, BLOCK)):
        similarities.update(dict.fromkeys(_find_quoted(block, words_of, starts), 1.0))
        for kinds, make_shingles, threshold in KINDS:
            indices = [index for index, text in enumerate(texts) if text.what in kinds]
            count, size = len(indices), len(indices) + len(block)
            shingles = map(make_shingles, [*(texts[index].text for index in indices), *block])
            pairs = find_similar_pairs(
                shingles, threshold, minhash_links, progress, single=range(count), apart=range(count, size)
            )
            for first, second, value in zip(*(column.tolist() for column in pairs.links()), strict=True):
                if first < count <= second:
                    similarities[indices[first]] = max(value, similarities[indices[first]])
    return dict(similarities)


def _find_quoted(
    passages: Iterable[str],
    words_of: Sequence[tuple[str, ...]],
    starts: Mapping[tuple[str, ...], Sequence[int]],
) -> Iterator[int]:
    """Yield the index of each text whose words occur consecutively in a passage."""
    for passage in passages:
        words = tuple(split_words(passage))
        for place in range(len(words) - MIN_WORDS + 1):
            for index in starts.get(words[place : place + MIN_WORDS], ()):
                if words[place : place + len(words_of[index])] == words_of[index]:
                    yield index


def read_passages(path: Path) -> Iterator[str]:
    """Yield the distinct texts in a file: all strings of its records, their paragraphs and their lines.

    Raises
    ------
    InputError: the file cannot be read.
    """
    seen = set()
    for text in _read_strings(path):
        for passage in (text, *text.split("\n\n"), *text.splitlines()):
            key = digest(passage)
            if passage.strip() and key not in seen:
                seen.add(key)
                yield passage


def _read_strings(path: Path) -> Iterator[str]:
    if path.suffix.lower() not in TEXT_FILES:
        for record in Records(path):
            yield from _list_strings(record.fields)
        return
    try:
        yield path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _list_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _list_strings(item)
