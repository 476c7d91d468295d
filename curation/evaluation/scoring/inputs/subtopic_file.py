"""A file that says which documents are relevant to which subtopic of a query: TREC's diversity qrels.

    1 2 clueweb09-en0000-00-00142 1

A line has topic, subtopic, document and grade; with a grade above 0 the document is relevant to the subtopic.
Names may be those of exports, as in run files. Lines of queries that are not evaluated, and of documents that
the release's corpus does not have, are left out and counted: no system could return these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.text import alike, amount
from curation.evaluation.scoring.inputs.release import EvaluatedRelease
from curation.evaluation.scoring.inputs.system_runs import OTHER_PART
from curation.evaluation.scoring.metrics.subtopics import subtopics_of
from curation.ingest.importers.queries import PREFIXES
from curation.ingest.importers.unknown_names import UNKNOWN_DOCUMENT, UNKNOWN_QUERY, refuse_alike
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Record, Records
from curation.ingest.readers.values import whole_number

NOT_RELEVANT = "grade 0: not relevant to the subtopic"


class SubtopicFacts(NamedTuple):
    """What a file of subtopics held for the evaluated queries.

    Attributes
    ----------
    queries: how many have a subtopic. subtopics: of all of them together.
    pairs: documents that are relevant to a subtopic of a query.
    left_out: reason → number of lines.
    """

    source: str
    queries: int
    subtopics: int
    pairs: int
    left_out: dict[str, int]

    @property
    def sentence(self) -> str:
        """What it held, for people."""
        left_out = "".join(f"; {count:,} × {why}" for why, count in self.left_out.items())
        queries = amount(self.queries, "query", "queries")
        pairs = amount(self.pairs, "relevant pair")
        return f"{self.source}: {amount(self.subtopics, 'subtopic')} of {queries}, {pairs}{left_out}."


def read_subtopics(
    path: Path, release: EvaluatedRelease, progress: Progress = silent
) -> tuple[EvaluatedRelease, SubtopicFacts]:
    """The release with the subtopics of its evaluated queries.

    Raises
    ------
    InputError: the file cannot be read, has a grade that is no whole number, or no relevant document of an
        evaluated query.
    """
    records = Records(path, FileLayout("qrels"), progress)
    evaluated, left_out = set(release.qrels.query_ids), Counter[str]()
    prefixes = PREFIXES if release.known.share_an_id(release.documents.intersection) else ("", "")
    rows: list[tuple[str, str, str]] = []
    not_relevant = 0
    unknown: dict[str, dict[str, int]] = {UNKNOWN_QUERY: {}, UNKNOWN_DOCUMENT: {}}
    with suppress(InputError):  # noted with the file's problems: raised below with what else is found
        for record in records:
            query = _original(record.fields["query"], release.known, prefixes[0])
            document = _original(record.fields["document"], release.documents, prefixes[1])
            grade = _grade(record, records)
            if query not in evaluated:
                left_out[UNKNOWN_QUERY if query is None else OTHER_PART] += 1
                if query is None:
                    unknown[UNKNOWN_QUERY].setdefault(record.fields["query"], record.line)
            elif document is None:
                left_out[UNKNOWN_DOCUMENT] += 1
                unknown[UNKNOWN_DOCUMENT].setdefault(record.fields["document"], record.line)
            elif grade > 0:
                rows.append((query, record.fields["iteration"], document))
            else:
                not_relevant += 1
    refuse_alike(UNKNOWN_QUERY, unknown[UNKNOWN_QUERY], release.known.alike, records.problems)
    documents_alike = partial(alike, known=release.documents)
    refuse_alike(UNKNOWN_DOCUMENT, unknown[UNKNOWN_DOCUMENT], documents_alike, records.problems)
    records.problems.check()
    if not rows:
        reasons = left_out + Counter({NOT_RELEVANT: not_relevant})
        records.refuse_nothing_taken("relevant document of a subtopic", reasons)
    facts = SubtopicFacts(
        source=records.source,
        queries=len({query for query, _, _ in rows}),
        subtopics=len({(query, subtopic) for query, subtopic, _ in rows}),
        pairs=len({(query, document) for query, _, document in rows}),
        left_out=dict(left_out),
    )
    qrels = replace(release.qrels, subtopics=subtopics_of(rows, release.qrels.query_ids))
    return replace(release, qrels=qrels), facts


def _original(name: str, known: Container[str], prefix: str) -> str | None:
    """The project's id that a file calls so: as it is, without the prefix of exports, or decoded."""
    return next((one for one in (name, name.removeprefix(prefix), unquote(name)) if one in known), None)


def _grade(record: Record, records: Records) -> int:
    """The grade; 0 where it is no whole number, which is noted."""
    grade = whole_number(record.fields["grade"])
    if grade is None:
        records.problems.add(
            record.line,
            f"the grade is {record.fields['grade']!r}",
            "Expected lines of topic, subtopic, document and grade, a whole number.",
        )
    return grade or 0
