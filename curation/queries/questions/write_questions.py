"""Questions for drawn documents, which one language model writes and another checks.

The documents are drawn with a known probability (`document_draw`). One call to the model writes all questions
of a document. A question is rejected if its answer is not quoted from the document, if it copies a phrase,
nearly equals a query of the project, or has personal data. A second call, to the model that checks, gets the
question with its documents and the first documents of BM25 (`question_calls`). A document that answers the
question becomes a candidate, too. Rejected questions are stored with the reason.

Each question is stored as soon as it is checked, and withheld until it is drawn for people. A run that was
interrupted continues with the same request, and pays for no answer twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.reports.tables import QueryName, Table
from curation.core.text import describe_left_out, pluralize
from curation.ingest.importers.query_tags import TagStatement, append_tags
from curation.people.annotators import require_author
from curation.queries.coverage.language_model import call_runs, endpoint
from curation.queries.coverage.language_model.call_runs import CHARACTERS_PER_TOKEN, CallLimits
from curation.queries.coverage.language_model.call_session import CallSession
from curation.queries.coverage.language_model.endpoint import ModelEndpoint
from curation.queries.coverage.language_model.prompting import hash_prompt, load_prompt
from curation.queries.coverage.writing import coverage_queries, synthetic_queries
from curation.queries.coverage.writing.checks import ALIKE
from curation.queries.questions import document_draw, question_calls
from curation.queries.questions.kinds import KINDS, UNANSWERABLE
from curation.queries.questions.question_calls import CHECK, WRITE, Question, QuestionAim, QuestionCheck
from curation.queries.requests import QuestionRequest
from curation.store import COMMAND_LINE, Cursor, Query, Store, fetch, utc_now

DEPTH = 10
"""Number of documents from the top of BM25's list that the check reads besides the document."""
BATCH = 20
"""Number of documents whose questions are written before they are checked."""
NO_QUESTION = "questions that the language model did not write"
UNCHECKED = "questions without an answer from the check"
_KNOWN = """
    SELECT document_id, text FROM rejected_questions
    UNION ALL SELECT document_id, text FROM coverage_queries JOIN queries USING (query_id)
"""


@dataclass
class WrittenQuestions:
    """The questions that a model wrote in a run, and the questions that were rejected.

    Attributes
    ----------
    documents: number of drawn documents.
    questions: new questions with their document and kind.
    rejected: reason → number of rejected questions.
    known: number of questions that an earlier run stored or rejected.
    ended: reason why the run ended early; None if the run is complete.
    """

    model: str
    checked_by: str
    documents: int
    questions: list[tuple[QueryName, str, str]] = field(default_factory=list)
    drawn: synthetic_queries.JudgedShare = synthetic_queries.NOTHING_DRAWN
    rejected: Counter[str] = field(default_factory=Counter)
    known: int = 0
    ended: str | None = None
    spent: call_runs.ModelSpending = field(default_factory=call_runs.ModelSpending)

    @property
    def sentences(self) -> list[str]:
        """Say how many questions are new or rejected, which model checked them, and why the run ended."""
        count, without = len(self.questions), sum(kind == UNANSWERABLE for *_, kind in self.questions)
        written = f"{pluralize(count, 'question')} stored, {without:,} of them unanswerable"
        ended = f"The run ended early: {self.ended}. Run the same command again to continue."
        known = f"An earlier run stored or rejected {pluralize(self.known, 'question')}."
        return [
            f"{written}, for {pluralize(self.documents, 'document')}.",
            describe_models(self.model, self.checked_by),
            *([known] if self.known else []),
            *(self.drawn.sentences if count else []),
            *([ended] if self.ended else []),
            *describe_left_out(self.rejected),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Make a table of the questions that the run wrote."""
        caption = f"{pluralize(len(self.questions), 'question')} by {self.model}"
        return (Table(caption, ("question", "document", "kind"), tuple(self.questions)),)


def read_rejected(cursor: Cursor) -> list[tuple[str, str, str, str]]:
    """Read the text, kind, document and reason of each rejected question, newest first."""
    sql = "SELECT text, kind, document_id, reason FROM rejected_questions ORDER BY rowid DESC"
    return cursor.execute(sql).fetchall()


def describe_models(model: str, checked_by: str) -> str:
    """Say in a sentence which model writes the questions and which model checks them."""
    if model == checked_by:
        return f"{model} both writes and checks the questions: a second model would find more mistakes."
    return f"{model} writes, {checked_by} checks."


def estimate_questions(store: Store, request: QuestionRequest) -> list[str]:
    """Say what a run would send to the language model, and to which host, without sending anything.

    Raises
    ------
    InputError, RefusedError: see `document_draw.check_request`, or no model is named.
    """
    checker = endpoint.name_model(endpoint.make_check_environment(request.check_model))
    prices, (aims, _) = endpoint.read_prices(), document_draw.draw_aims(store, request)
    calls = [question_calls.make_writing_call(aim, endpoint.read_model()) for aim in aims]
    work, checks = call_runs.plan_calls(store, calls, prices), sum(len(aim.kinds) for aim in aims)
    check = question_calls.make_check_call("", [aim.document for aim in aims[: DEPTH + 1]], "")
    tokens = work.tokens + checks * check.characters // CHARACTERS_PER_TOKEN
    price = endpoint.compute_price(prices, tokens)
    work = work._replace(calls=work.calls + checks, tokens=tokens, price=price)
    questions = f"{pluralize(checks, 'question')} for {pluralize(len(aims), 'document')}"
    return [f"{questions}: {work.sentence}", describe_models(endpoint.name_model(), checker)]


def write_questions(
    store: Store,
    request: QuestionRequest,
    limits: CallLimits,
    checker: ModelEndpoint,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> WrittenQuestions:
    """Have one model write questions for drawn documents and another check them, and draw the share that
    people judge.

    Raises
    ------
    InputError: the request cannot be met (`document_draw.check_request`).
    RefusedError: the actor is not a lead, there is no corpus, or an endpoint refuses all calls.
    """
    with store.reading() as cursor:
        require_author(cursor, actor, "lead")
    run = _QuestionRun(store, request, limits, checker, actor)
    try:
        run.run(progress)
    finally:
        run.report.ended, run.report.spent = run.calls.ended, run.calls.spent
        if run.report.questions:
            run.report.drawn = synthetic_queries.draw_queries(store, request.share, request.seed, actor)
    return run.report


class _QuestionRun:
    """A run that writes questions, with the queries of the project and the report so far."""

    def __init__(
        self, store: Store, request: QuestionRequest, limits: CallLimits, checker: ModelEndpoint, actor: str
    ) -> None:
        self._store, self._request, self._checker, self._actor = store, request, checker, actor
        self._aims, self._retriever = document_draw.draw_aims(store, request)
        self.calls = CallSession(store, limits)
        with store.reading() as cursor:
            self._queries = fetch(cursor, Query, f"SELECT {', '.join(Query._fields)} FROM queries")  # noqa: S608
            self._known = set(cursor.execute(_KNOWN).fetchall())
        self.report = WrittenQuestions(limits.endpoint.model, checker.model, len(self._aims))

    def run(self, progress: Progress) -> None:
        """Write and check questions for all documents, or stop early if the models stop answering."""
        for start in range(0, len(self._aims), BATCH):
            batch = self._aims[start : start + BATCH]
            questions = self._write(batch)
            if self.calls.ended is None:
                self._check(questions)
            if self.calls.ended:
                return
            progress("documents with questions", start + len(batch), len(self._aims))

    def _write(self, aims: Sequence[QuestionAim]) -> list[Question]:
        """Ask the model for questions about each document, and return the new questions whose text passes the
        checks."""
        calls = [question_calls.make_writing_call(aim, self.report.model) for aim in aims]
        answers = self.calls.ask(calls, question_calls.read_rows)
        accepted = []
        for aim, answer in zip(aims, answers, strict=True):
            questions = question_calls.read_questions(answer, aim) if answer else []
            self.report.rejected += Counter({NO_QUESTION: len(aim.kinds) - len(questions)})
            for question in questions:
                if (aim.document.document_id, question.text) in self._known:
                    self.report.known += 1
                elif reason := question.find_refusal(self._queries):
                    self._reject(question, reason)
                else:
                    accepted.append(question)
        return accepted

    def _check(self, questions: Sequence[Question]) -> None:
        """Have the second model check the questions, and store each question with its outcome."""
        texts = [question.text for question in questions]
        found = document_draw.search_documents(self._store, texts, self._retriever, DEPTH)
        shown = [question_calls.order_documents(*pair) for pair in zip(questions, found, strict=True)]
        model = self._checker.model
        calls = [question_calls.make_check_call(*pair, model) for pair in zip(texts, shown, strict=True)]
        answers = self.calls.ask(calls, question_calls.read_check, self._checker) if calls else []
        for question, documents, answer in zip(questions, shown, answers, strict=True):
            if answer is None:
                self.report.rejected[UNCHECKED] += 1
                continue
            check = question_calls.read_check(answer, documents)
            reason = check.find_refusal(question)
            if reason or not self._store_question(question, check):
                self._reject(question, reason or ALIKE)

    def _reject(self, question: Question, reason: str) -> None:
        self.report.rejected[reason] += 1
        document = question.aim.document
        texts = (document.document_id, document.content_hash, question.kind, question.text, reason)
        row = (*texts, self.report.model, self._checker.model, utc_now())
        with self._store.transaction() as cursor:
            cursor.execute("INSERT INTO rejected_questions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _store_question(self, question: Question, check: QuestionCheck) -> bool:
        """Store a question that people do not judge yet, or return False if the project already has its
        text."""
        document, request, kind = question.aim.document, self._request, question.kind
        answering = {*check.whole, *check.part} if kind != UNANSWERABLE else set[str]()
        detail = {
            "also": sorted(answering - {document.document_id}),
            "checked_by": self._checker.model,
            "probability": question.aim.probability,
            "prompts": {name: hash_prompt(load_prompt(name)) for name in (WRITE, CHECK)},
            "quotes": question.quotes,
            "seed": request.seed,
            "share": request.share,
            "stratum": question.aim.stratum,
        }
        purpose = coverage_queries.UNANSWERABLE if kind == UNANSWERABLE else coverage_queries.GAP
        source = (document.document_id, document.content_hash, kind)
        origin = coverage_queries.QueryOrigin(purpose, self.report.model, None, None, *source, detail)
        draw = (request.share, request.seed, self._actor)
        try:
            with self._store.transaction() as cursor:
                query = coverage_queries.add_coverage_query(
                    cursor, question.text, origin, "synthetic", self._actor
                )
                synthetic_queries.withhold_query(cursor, query.query_id, *draw)
                if tag := KINDS[kind].tag:
                    statement = TagStatement(query.query_id, tag, True)
                    append_tags(cursor, [statement], by_person=False, author=self.report.model)
        except RefusedError:  # the text is in the traffic
            return False
        self._queries.append(query)
        self.report.questions.append((QueryName(question.text, query.query_id), document.document_id, kind))
        return True
