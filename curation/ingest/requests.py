"""Import requests, with one class for each kind of file.

The options of a command, the form of a page, the parameters of a job and refusals are made from the fields of
a request (`curation.core.request.Option`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from curation.core.digests import digest
from curation.core.errors import InputError
from curation.core.request import Needs, build_request, flatten_request, option
from curation.ingest.importers.traffic.cleaning import CleaningRules
from curation.ingest.option_maps import parse_annotator_columns, parse_column_map
from curation.ingest.readers.fields import (
    CorpusFields,
    DecisionFields,
    FileColumns,
    JudgmentFields,
    NuggetFields,
    QueryFields,
    ReferenceFields,
    RunFields,
    TrafficFields,
    file_fields,
)
from curation.ingest.readers.folders import refuse_address
from curation.ingest.readers.formats import FORMATS, FileLayout
from curation.ingest.readers.run_files import FORMATS as RUN_FORMATS
from curation.ingest.request_options import (
    CURRENT,
    EARLIER,
    MARKUPS,
    DateOrder,
    Encoding,
    GradeMap,
    SkipUnknown,
    columns_option,
    format_option,
)

Request = TypeVar("Request", bound="ImportRequest")


@dataclass(frozen=True)
class ImportRequest:
    """The base class of requests to import one file.

    Attributes
    ----------
    what: kind of file, as stored in the project. title: name of the kind for people.
    description: sentence that explains the kind to people who do not know it.
    record: class with the fields of the kind.
    path: path of the file on this machine. source: name of the file for people.
    map: columns of fields, such as `query=qid`; `query=` stands for no column. The columns of fields that are
        not in `map` are found by their usual names.
    columns: names of the columns of a table without a header, separated by commas.
    """

    what: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    record: ClassVar[type[FileColumns]]

    path: str = ""
    source: str = ""
    map: Sequence[str] = ()
    format: str | None = format_option(FORMATS)
    encoding: Encoding = "utf-8"
    columns: str | None = option(
        None,
        "Names of the columns",
        "Names of the columns of a table without a header. Separate the names by commas.",
    )
    no_header: bool = option(
        False,
        "The first line is data",
        "The table has no header line. A table without a header needs --columns.",
    )

    @property
    def file(self) -> Path:
        return Path(self.path)

    @property
    def layout(self) -> FileLayout:
        """Return the file's format, encoding and columns."""
        names = None if self.columns is None else tuple(name.strip() for name in self.columns.split(","))
        return FileLayout(self.format, self.encoding, names, not self.no_header)

    def columns_of(self, **others: Any) -> Any:
        """Return the columns chosen for the fields, from the request's `map` and from `others`, values that
        this kind of file needs.

        Raises
        ------
        InputError: `map` names a field that this kind of file does not have.
        """
        return self.record(**parse_column_map(self.map, file_fields(self.record)), **others)

    @property
    def key(self) -> str:
        """Return the key that identifies a dry run: a hash of the request and of the file's size and
        modification time."""
        request_hash = digest("import request", self.what, asdict(self))
        try:
            file_state = self.file.stat()
        except OSError:
            return request_hash
        return digest("import request", request_hash, file_state.st_size, file_state.st_mtime_ns)


@dataclass(frozen=True)
class CorpusRequest(ImportRequest):
    """A request to import documents; with `in_place`, the documents' texts stay in the files."""

    what = "corpus"
    title = "Corpus"
    description = "The documents that people search, such as products, pages and articles."
    record = CorpusFields
    map: Sequence[str] = columns_option(CorpusFields)
    add: bool = option(
        False,
        "Add to the current corpus",
        "Add the documents to the current corpus. By default, the file replaces the whole corpus.",
    )
    titles_only: bool = option(
        False,
        "Judge documents by their title alone",
        "Import documents that have no text. People judge them by title.",
    )
    markup: str | None = option(
        None,
        "Text format",
        "Markup of the text: plain, html, markdown, code or file. Documents are shown in this markup. With "
        "file, each document has the markup of its own file.",
        choices=tuple(MARKUPS),
        words=MARKUPS,
        unset="detected from the first rows, unless the guide sets the markup",
    )
    in_place: bool = option(
        False,
        "Leave the texts in the file",
        "Leave the texts in their Parquet or JSON files. The path may also be a folder. The project stores "
        "ids, checksums, and only the texts of pooled and judged documents. Do not edit these files.",
    )


@dataclass(frozen=True)
class TrafficRequest(ImportRequest):
    """A request to import a query log from a file or a folder."""

    what = "traffic"
    title = "Traffic"
    description = "A log of people's searches: one query per line, with the time or the number of searches."
    record = TrafficFields
    map: Sequence[str] = columns_option(TrafficFields)
    date_order: DateOrder = None
    rules: CleaningRules = field(default_factory=CleaningRules)


@dataclass(frozen=True)
class QueriesRequest(ImportRequest):
    """A request to import queries, which are judged in addition to the sample."""

    what = "queries"
    title = "Queries"
    description = "Queries that people will judge, in addition to the queries of the sample."
    record = QueryFields
    map: Sequence[str] = columns_option(QueryFields)


@dataclass(frozen=True)
class RunRequest(ImportRequest):
    """A request to import a run under a name."""

    what = "runs"
    title = "Run"
    description = "The ranked lists of a search system, from which a pool can take documents."
    record = RunFields
    map: Sequence[str] = columns_option(RunFields)
    format: str | None = format_option(RUN_FORMATS)
    name: str = option("", "Name of the run", "Name of the run. A pool refers to the run as run:NAME.")
    skip_unknown: SkipUnknown = False
    skip_repeated: bool = option(
        False,
        "Keep the best rank of a repeated document",
        "Keep the best rank of a document repeated for a query.",
    )


@dataclass(frozen=True)
class JudgmentsRequest(ImportRequest):
    """A request to import judgments by people, or by a `judge` that is not a person."""

    what = "judgments"
    title = "Judgments"
    description = "Relevance grades from outside the project, given by people or by an automatic judge."
    record = JudgmentFields
    map: Sequence[str] = columns_option(JudgmentFields)
    annotator_columns: Mapping[str, str] | None = option(
        None,
        "Columns with grades",
        "Columns with grades, one per annotator, separated by commas. column=name names the annotator of a "
        "column.",
        parse=parse_annotator_columns,
    )
    annotator_map: str | None = option(
        None,
        "Annotators of the names in the file",
        "Names in the file and their annotators: 'ann lee=Ann Lee'. If a new name only looks like a "
        "known name, map it to itself.",
    )
    annotator: str | None = option(
        None,
        "Annotator of all grades",
        "Annotator of all grades. Use this option for files without annotators, such as qrels.",
        accepts_others=True,
    )
    grade: int | None = option(
        None,
        "Grade of all judgments in a file without grades",
        "Grade of all judgments, one of the guide's scale. Use this option for files without grades.",
        minimum=0,
        maximum=100,
    )
    judge: str | None = option(
        None,
        "Name of the judge",
        "Name of the judge that gave all grades. A judge is not a person, but a language model, for example. "
        "A judge's grades do not count as votes.",
    )
    date_order: DateOrder = None
    grade_map: GradeMap = None
    skip_unknown: SkipUnknown = False
    about: str | None = option(
        None,
        "Text that the judgments are about",
        "Judged text of a changed document: current or earlier. The current text is in the corpus. "
        "The earlier text is what the annotator judged before; choose it for corrections.",
        choices=(CURRENT, EARLIER),
        unset="the current text in a second pass, otherwise an error",
        needs=Needs("a judge always reads the current text", lambda values: values["judge"] is None),
    )
    round: str | None = option(
        None,
        "Name of a second pass by the same people",
        "Round for a second pass by the same people. Its grades do not replace earlier grades.",
        needs=Needs("a judge's grades belong to no round", lambda values: values["judge"] is None),
    )


@dataclass(frozen=True)
class DecisionsRequest(ImportRequest):
    """A request to import decisions, whose author is the person who imports them."""

    what = "decisions"
    title = "Reviewer's decisions"
    description = "Final grades of disputed pairs that a reviewer decided outside the project."
    record = DecisionFields
    map: Sequence[str] = columns_option(DecisionFields)
    reason: str = option(
        "",
        "Reason for decisions without a reason",
        "Reason for decisions that have none in the file. One sentence.",
    )
    every_pair: bool = option(
        False,
        "Decide every judged pair of the file, disputed or not",
        "Decide all judged pairs of the file, disputed or not.",
    )


@dataclass(frozen=True)
class AnswersRequest(ImportRequest):
    """A request to import reference answers."""

    what = "answers"
    title = "Reference answers"
    description = "Reference answers to queries. If a query has several answers, each answer is correct."
    record: ClassVar[type[FileColumns]] = ReferenceFields
    map: Sequence[str] = columns_option(ReferenceFields)
    skip_unknown: SkipUnknown = False


class NuggetsRequest(AnswersRequest):
    """A request to import nuggets (`goldgrade import answers --nuggets`)."""

    what = "nuggets"
    title = "Nuggets"
    description = "Facts (nuggets) that a good answer to a query contains, each marked as vital or okay."
    record = NuggetFields


@dataclass(frozen=True)
class CollectionRequest:
    """A request to import a test collection, whose files do not name annotators."""

    format: str | None = option(
        None,
        "Format",
        "Format of the files: trec, beir or hf.",
        unset="recognized from names and contents of the files",
    )
    annotator: str | None = option(
        None, "Annotator", "Annotator of all grades. This option is required if the collection has judgments."
    )
    grade_map: GradeMap = None
    skip_unknown: SkipUnknown = False
    add: bool = option(
        False,
        "Add to the current corpus",
        "Add the documents to the current corpus. By default the new documents replace the corpus.",
    )
    encoding: Encoding = "utf-8"


REQUESTS: Mapping[str, type[ImportRequest]] = {
    kind.what: kind
    for kind in (
        CorpusRequest,
        TrafficRequest,
        QueriesRequest,
        RunRequest,
        JudgmentsRequest,
        DecisionsRequest,
        AnswersRequest,
        NuggetsRequest,
    )
}
"""Class of request for each kind of file, in the order in which files are usually imported."""


def make_request(
    what: str, path: str | Path, columns: Mapping[str, Any] | None = None, **options: Any
) -> ImportRequest:
    """Return the request to import a file on this machine.

    Parameters
    ----------
    columns: column, or list of columns, for each field; '' stands for no column.
    options: further fields of the request.

    Raises
    ------
    InputError: the kind or an option is unknown, or the path is an address in object storage.
    """
    request_class = REQUESTS.get(what)
    if request_class is None:
        raise InputError(f"{what!r} is not a kind of file; expected one of {', '.join(REQUESTS)}.")
    fields = flatten_request(request_class())
    if extras := options.keys() - fields.keys():
        names = [name for name in fields if name not in ("path", "source", "map")]
        problem = f"{', '.join(sorted(extras))}: {what} do not have this option"
        raise InputError(f"{problem}; expected {', '.join(names)}.")
    return set_columns(set_file(build_request(request_class, options), path), columns or {})


def set_file(request: Request, path: str | Path) -> Request:
    """Return the request with this path and name of a file or folder; reject an address in object storage."""
    refuse_address(path)
    return replace(request, path=str(path), source=Path(path).name)


def set_columns(request: Request, columns: Mapping[str, Any]) -> Request:
    """Return the request with a column or a list of columns for each field; '' and [] mean no column."""
    pairs = [
        f"{name}={column}"
        for name, chosen in columns.items()
        for column in ([chosen] if isinstance(chosen, str) else chosen or [""])
    ]
    return replace(request, map=tuple(pairs))
