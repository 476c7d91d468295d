"""Entities by a language model: names with descriptions that need no context, document by document.

The extractor reads stored answers and sends nothing: `answers.ask` sends its calls where somebody wants it.
So a map is made from the same answers however often, and only once every document has been asked about.

Candidates: queries that a model proposes for a document, and which of them may be taken.

A model's candidates are refused for what people are warned of: phrases copied from the document, queries that
the project nearly has, and another style; for texts that do not read as a query; and for personal data. A
second call says whether the document answers a candidate. It must quote the passage, and the quote must be in
the document. A third says whether the quote by itself answers.

Aims: for which gaps, documents and styles a model is asked to write queries, and what that would send.

Gaps come by searches × documents, the documents of each in an order by seed, and each document has a style by
seed. So a run that goes on asks the same, and pays only for what was not answered.

The share of a model's queries that people judge.

A query that a language model wrote is withheld until it is drawn. Those that are drawn are in force: they are
pooled, shown and graded like any other, and the document that each was written for is a candidate. The share
is of all synthetic queries of the project, rounded up. It can be raised and not lowered, so what was drawn
once stays. The order of drawing is random by seed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil
from typing import Any, NamedTuple

from curation.coverage.coverage_map import CoverageMap, map_in_force, read_map
from curation.coverage.language_model.answers import (
    CHARACTERS,
    MalformedAnswerError,
    ModelCall,
    load_prompt,
    read_answers,
    read_list,
    read_object,
)
from curation.coverage.language_model.chat import TokenPrices
from curation.coverage.phrases import Extraction, Mention, entity_name, shortened
from curation.coverage.report import CoverageGap, gaps_of, match_asked, of_clusters
from curation.coverage.writing.checks import STYLES, QueryStyle, alike_queries, copied_phrases, reads_as_query
from curation.coverage.writing.tasks import coverage_queries, propose_origins
from curation.errors import InputError, RefusedError, refuse_problems
from curation.guides.guide import current_guide
from curation.people.annotators import require_author
from curation.progress import Progress, silent
from curation.retrieval.embeddings import DEFAULT_MODEL
from curation.sources.redaction.personal_data import redact
from curation.statistics.intervals import wilson
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Document,
    Query,
    Store,
    append_rows,
    fetch,
    record_event,
    utc_now,
)
from curation.store.documents import Corpus, StoredDocuments, current_corpus
from curation.text import amount, normalise_query, seeded
from curation.words import words


class JudgedShare(NamedTuple):
    """Synthetic queries, and how many of them people judge.

    Attributes
    ----------
    share: that was asked for last; None where there are no queries.
    queries: all that models wrote and nobody retired.
    drawn: those in force.
    added: of these, drawn by this call.
    """

    share: float | None
    queries: int
    drawn: int
    added: int = 0


NO_DOCUMENT = Document("", "", "", "")
NOTHING_DRAWN = JudgedShare(None, 0, 0)


class JudgedOrigins(NamedTuple):
    """What people said of the documents that synthetic queries in force were written for.

    Attributes
    ----------
    model: that wrote them.
    queries, withheld: in force, and not.
    judged: queries whose document has a grade of people.
    relevant: of these, with more than half of the grades from the relevant one on.
    interval: Wilson's, 95 %, of the share of relevant ones; None where none is judged.
    """

    model: str
    queries: int
    withheld: int
    judged: int
    relevant: int
    interval: tuple[float, float] | None


def check_share(share: float) -> None:
    """Raise an InputError unless people judge some of the queries."""
    if not 0 < share <= 1:
        raise InputError(
            f"The share of queries that people judge is {share:g}; expected a number above 0, 1 at most. "
            "Queries of a language model that nobody judges test nothing."
        )


def withhold(cursor: Cursor, query_id: str, share: float, seed: int, author: str) -> None:
    """Withhold a query that was just written; part of another's transaction."""
    _append(cursor, [(query_id, 0, False)], share, seed, author)


def draw_queries(store: Store, share: float, seed: int, author: str = COMMAND_LINE) -> JudgedShare:
    """Draw queries until people judge this share of all that models wrote.

    Raises
    ------
    InputError: the share is not above 0, or above 1.
    RefusedError: the author is no lead.
    """
    check_share(share)
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, "lead")
        rows = cursor.execute(_LATEST).fetchall()
        waiting = [(query_id, revision) for query_id, revision, drawn, _ in rows if not drawn]
        needed = max(0, ceil(round(share * len(rows), 9)) - (len(rows) - len(waiting)))
        new = sorted(seeded(waiting, seed, lambda row: ["judged share", row[0]])[:needed])
        if new:
            propose_origins(cursor, [query_id for query_id, _ in new])
            _append(
                cursor, [(query_id, revision + 1, True) for query_id, revision in new], share, seed, author
            )
            detail = {"share": share, "seed": seed, "queries": [query_id for query_id, _ in new]}
            record_event(cursor, "draw synthetic queries", detail, author)
    return JudgedShare(share, len(rows), len(rows) - len(waiting) + len(new), len(new))


def judged_origins(store: Store, relevant: int | None = None) -> list[JudgedOrigins]:
    """What people said of each model's queries, by model.

    Parameters
    ----------
    relevant: the grade from which a document is relevant; None: the second of the scale.

    Raises
    ------
    InputError: the grade is not on the scale, or is its lowest.
    """
    with store.reading() as cursor:
        grades = current_guide(cursor).values[1:]
        relevant = grades[0] if relevant is None else relevant
        if relevant not in grades:
            raise InputError(f"A relevant grade is one of {', '.join(map(str, grades))}; found {relevant}.")
        rows = cursor.execute(_ORIGINS, {"relevant": relevant}).fetchall()
    return [
        JudgedOrigins(model, queries, withheld, judged, good, wilson(good, judged) if judged else None)
        for model, queries, withheld, judged, good in rows
    ]


_LATEST = """
    SELECT query_id, revision, drawn, share FROM synthetic_draws
    WHERE query_id NOT IN (SELECT query_id FROM retired_queries)
    QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1 ORDER BY query_id
"""
_ORIGINS = """
    WITH graded AS (
        SELECT c.query_id, count(j.grade) AS votes, count(*) FILTER (j.grade >= $relevant) AS good
        FROM coverage_queries c
        JOIN counted_judgments j ON j.query_id = c.query_id AND j.document_id = c.document_id
        GROUP BY c.query_id)
    SELECT c.writer, count(*) FILTER (w.query_id IS NULL), count(w.query_id),
           count(*) FILTER (w.query_id IS NULL AND g.votes > 0),
           count(*) FILTER (w.query_id IS NULL AND 2 * g.good > g.votes)
    FROM coverage_queries c JOIN queries q USING (query_id)
    LEFT JOIN withheld_queries w USING (query_id) LEFT JOIN graded g USING (query_id)
    WHERE q.source = 'synthetic' AND c.query_id NOT IN (SELECT query_id FROM retired_queries)
    GROUP BY c.writer ORDER BY c.writer
"""


def _append(
    cursor: Cursor, rows: Sequence[tuple[str, int, bool]], share: float, seed: int, author: str
) -> None:
    asked = {"share": share, "seed": seed, "author": author, "drawn_at": utc_now()}
    append_rows(cursor, "synthetic_draws", rows, ("query_id", "revision", "drawn"), **asked)


TRIES = 3
"""Times that candidates are written for one query of a gap, each for a document of its own."""
MOST_CANDIDATES = 20


class WritingRequest(NamedTuple):
    """What a model is to write.

    Attributes
    ----------
    share: of the queries that people judge, above 0.
    seed: of documents, styles and the share.
    candidates: B, of each step, and so many documents.
    embedding: the model of the coverage map.
    fill: for regions of 1 to 4 queries instead of gaps, each to five, the largest first.
    """

    queries: int
    share: float
    seed: int = 0
    candidates: int = 5
    embedding: str = DEFAULT_MODEL
    fill: bool = False


class WritingWork(NamedTuple):
    """What writing would send: the least and the most, as answers decide how many calls follow.

    Attributes
    ----------
    queries: to be written at most: as many as were asked for, and no more than the gaps miss.
    least_calls, least_tokens: if the first candidate holds in every gap; tokens that are read, estimated.
    most_calls, most_tokens: if none does.
    least_price, most_price: of what is read; None without prices.
    """

    queries: int
    gaps: int
    least_calls: int
    most_calls: int
    least_tokens: int
    most_tokens: int
    least_price: float | None
    most_price: float | None


class WritingInputs(NamedTuple):
    """What writing starts from; `gaps` count withheld queries, `alignments` are J of those written before."""

    store: Store
    corpus: Corpus

    map: CoverageMap
    gaps: list[CoverageGap]
    queries: list[Query]
    written_for: frozenset[str]
    alignments: list[float | None]


def plan_writing(
    store: Store,
    request: WritingRequest,
    model: str,
    prices: TokenPrices | None = None,
    progress: Progress = silent,
) -> WritingWork:
    """What writing would send. Nothing is sent.

    Raises
    ------
    InputError: see `write_queries`.
    RefusedError: there is no map of the corpus in force.
    """
    check_request(request)
    inputs = read_inputs(store, request, progress)
    quoted = [_characters(verification_call("", NO_DOCUMENT, model))]
    least, most, left = [], [], request.queries
    for gap in inputs.gaps:
        count = min(gap.missing, left)
        aims = list(islice(aims_of(inputs, gap, request.seed), TRIES * request.candidates * count))
        first = [_characters(candidates_call(aim, model)) for aim in aims]
        second = [_characters(verification_call("", aim.document, model)) for aim in aims]
        if count:
            least += first[: request.candidates + count - 1] + second[:count] + quoted * len(second[:count])
        most += first + second + second
        left -= count
    least_tokens, most_tokens = ceil(sum(least) / CHARACTERS), ceil(sum(most) / CHARACTERS)
    return WritingWork(
        queries=request.queries - left,
        gaps=len(inputs.gaps),
        least_calls=len(least),
        most_calls=len(most),
        least_tokens=least_tokens,
        most_tokens=most_tokens,
        least_price=prices and least_tokens * prices.read / 1e6,
        most_price=prices and most_tokens * prices.read / 1e6,
    )


def check_request(request: WritingRequest) -> None:
    """Raise an InputError unless numbers and share are in their ranges."""
    problems = []
    if request.queries < 1:
        problems.append(
            f"{amount(request.queries, 'query was', 'queries were')} asked for; expected 1 or more."
        )
    if not 1 <= request.candidates <= MOST_CANDIDATES:
        problems.append(f"{amount(request.candidates, 'candidate')} a step; expected 1 to {MOST_CANDIDATES}.")
    refuse_problems(problems)
    check_share(request.share)


def read_inputs(store: Store, request: WritingRequest, progress: Progress) -> WritingInputs:
    """What writing starts from.

    Raises
    ------
    RefusedError: there is no map of the corpus in force, or it is of another model than the request's.
    """
    with store.reading() as cursor:
        found = read_map(cursor, map_in_force(cursor))
    asked = match_asked(store, found, request.embedding, progress)
    with store.reading() as cursor:
        written = [row for row in coverage_queries(cursor) if row.map_id == found.map_id]
        hidden = set(cursor.execute("SELECT query_id FROM withheld_queries").fetchall())
        corpus = current_corpus(cursor)
        queries = fetch(
            cursor,
            Query,
            "SELECT query_id, text, normalised, source, information_need FROM queries ORDER BY query_id",
        )
    withheld = Counter(row.cluster for row in written if (row.query_id,) in hidden)
    counted = [one._replace(queries=one.queries + withheld[one.number]) for one in of_clusters(found, asked)]
    done = set() if request.fill else {row.cluster for row in written}
    return WritingInputs(
        store=store,
        corpus=corpus,
        map=found,
        gaps=[gap for gap in gaps_of(found, counted, request.fill) if gap.number not in done],
        queries=queries,
        written_for=frozenset(row.document_id for row in written),
        alignments=[json.loads(row.detail).get("alignment") for row in written],
    )


def aims_of(inputs: WritingInputs, gap: CoverageGap, seed: int) -> Iterator[QueryAim]:
    """What is asked for each document of a gap that nothing was written for, in their order by seed."""
    free = [name for name in gap.documents if name not in inputs.written_for]
    for document_id in seeded(free, seed, lambda name: ["synthetic", gap.number, name]):
        [document] = StoredDocuments(inputs.store, inputs.corpus.part([document_id]).hashes)
        held = {inputs.map.entities[place].name for place in inputs.map.of_documents[document_id]}
        about = tuple(name for name in gap.entities if name in held)
        style = _style(document_id, seed)
        yield QueryAim(gap.number, about or gap.entities, document, style)


def _style(document_id: str, seed: int) -> QueryStyle:
    return STYLES[seeded(STYLES, seed, lambda name: ["style", document_id, name])[0]]


def _characters(call: ModelCall) -> int:
    return sum(len(message["content"]) for message in call.messages)


NAME = "llm"
PROMPT = "entities"
MOST = 12
"""Entities of a document."""
LONGEST_NAME = 6
"""Words of a name."""
LONGEST_TEXT = 12_000
"""Characters of a document that are sent."""


class ModelExtractor:
    """Finds the entities that a language model has named; see `coverage.phrases.Extractor`."""

    name = NAME

    def __init__(self, store: Store, model: str) -> None:
        self._store = store
        self._model = model

    @property
    def settings(self) -> Mapping[str, Any]:
        """See `Extractor.settings`."""
        return {
            "longest_name": LONGEST_NAME,
            "longest_text": LONGEST_TEXT,
            "model": self._model,
            "most": MOST,
            "prompt": load_prompt(PROMPT).prompt_hash,
        }

    def extract(self, documents: Iterable[Document], progress: Progress = silent) -> Extraction:
        """See `Extractor.extract`.

        Raises
        ------
        RefusedError: documents that the model has not been asked about.
        """
        calls = [document_call(document, self._model) for document in documents]
        with self._store.reading() as cursor:
            known = read_answers(cursor, calls)
        waiting = sum(known.is_open(call) for call in calls)
        if waiting:
            raise RefusedError(
                f"The language model has not read {waiting:,} of {amount(len(calls), 'document')} yet. Its "
                "answers so far are kept. Ask it for the others: `goldset coverage --extractor llm --send`."
            )
        answers = [known.answer(call) for call in calls]
        unread = {
            document.document_id: known.why_not(call) or ""
            for document, call, answer in zip(documents, calls, answers, strict=True)
            if answer is None
        }
        return Extraction([[] if answer is None else read_mentions(answer) for answer in answers], unread)


def document_call(document: Document, model: str) -> ModelCall:
    """The call that asks for a document's entities; documents of one text are one call."""
    return ModelCall(model, load_prompt(PROMPT), shown_document(document))


def shown_document(document: Document) -> dict[str, str]:
    """What a model gets of a document."""
    return {"title": document.title, "text": document.body[:LONGEST_TEXT]}


class DocumentCalls(NamedTuple):
    """The calls that ask about a corpus; `cut`: characters of long documents that they leave out."""

    calls: list[ModelCall]
    cut: int


def document_calls(store: Store, model: str) -> DocumentCalls:
    """The calls that ask about the documents of the corpus.

    Raises
    ------
    RefusedError: there is no corpus.
    """
    with store.reading() as cursor:
        corpus = current_corpus(cursor)
    calls, cut = [], 0
    for document in StoredDocuments(store, corpus.hashes):
        calls.append(document_call(document, model))
        cut += max(0, len(document.body) - LONGEST_TEXT)
    return DocumentCalls(calls, cut)


def read_mentions(answer: str) -> list[Mention]:
    """The entities in an answer, the most important first; names that are none or too long are passed over.

    Raises
    ------
    MalformedAnswerError: it is not of the form that the prompt asks for.
    """
    found: dict[str, Mention] = {}
    for item in read_list(answer, "entities", object):
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise MalformedAnswerError("an entity without a name")
        name, description = entity_name(item["name"]), item.get("description")
        if name and name.count(" ") < LONGEST_NAME and name not in found and len(found) < MOST:
            short = shortened(" ".join(description.split())) if isinstance(description, str) else ""
            found[name] = Mention(name, short, 1 / (1 + len(found)))
    return list(found.values())


WRITE, VERIFY = "queries", "answerable"
"""Names of the two prompts."""
LONGEST_QUERY = 300
"""Characters of a candidate."""
LONGEST_QUOTE = 40  # words; twice what the prompt asks for
ABOUT = 6
"""Entities of the region that the model is asked to write about: its most central ones."""

COPIED = "candidates with a phrase copied from the document"
ALIKE = "candidates that are nearly a query of the project"
OTHER_STYLE = "candidates of another style: another length, or a question for key words, or the reverse"
NO_SENSE = "candidates that do not read as a query: no word that says something, or one repeated"
PERSONAL = "candidates with personal data"


class QueryAim(NamedTuple):
    """What a query is to be written for; `about` are entities of the region."""

    cluster: int
    about: tuple[str, ...]
    document: Document
    style: QueryStyle


class AnswerCheck(NamedTuple):
    """What the second call says: whether the document answers the query, and by which words."""

    answered: bool
    quote: str


def candidates_call(aim: QueryAim, model: str) -> ModelCall:
    """The call that asks for a candidate."""
    material = {
        "about": list(aim.about[:ABOUT]),
        "candidates": 1,
        "document": shown_document(aim.document),
        "style": f"{aim.style.length}, {aim.style.wording}",
    }
    return ModelCall(model, load_prompt(WRITE), material)


def read_candidates(answer: str) -> list[str]:
    """The candidates in an answer, each once, in their order.

    Raises
    ------
    MalformedAnswerError: it is not of the form that the prompt asks for.
    """
    listed = read_list(answer, "queries", str)
    texts = {normalise_query(text): " ".join(text.split()) for text in reversed(listed)}
    return [text for name, text in reversed(texts.items()) if name and len(text) <= LONGEST_QUERY]


def verification_call(text: str, document: Document, model: str) -> ModelCall:
    """The call that asks whether the document answers a query."""
    return ModelCall(model, load_prompt(VERIFY), {"document": shown_document(document), "query": text})


def read_check(answer: str) -> AnswerCheck:
    """What the second call says.

    Raises
    ------
    MalformedAnswerError: it is not of the form that the prompt asks for.
    """
    found = read_object(answer)
    if not isinstance(found.get("answered"), bool):
        raise MalformedAnswerError("an answer that says neither yes nor no")
    quote = found.get("quote")
    return AnswerCheck(found["answered"], quote if isinstance(quote, str) else "")


def is_shown(check: AnswerCheck, document: Document) -> bool:
    """Whether the document answers, by a quote that it has word for word."""
    quoted = words(check.quote)
    shown = shown_document(document)
    return check.answered and any(_has_run(words(text), quoted) for text in shown.values())


def why_refused(text: str, aim: QueryAim, queries: Iterable[Query]) -> str | None:
    """Why a candidate may not be taken; None where it may.

    Parameters
    ----------
    queries: all that the project has.
    """
    if not aim.style.holds(text):
        return OTHER_STYLE
    if not reads_as_query(text, aim.style):
        return NO_SENSE
    if redact(text).kinds:
        return PERSONAL
    if copied_phrases(text, aim.document.title, aim.document.body):
        return COPIED
    return ALIKE if alike_queries(text, queries) else None


def _has_run(found: Sequence[str], run: Sequence[str]) -> bool:
    return 0 < len(run) <= LONGEST_QUOTE and any(
        list(found[start : start + len(run)]) == list(run) for start in range(len(found) - len(run) + 1)
    )
