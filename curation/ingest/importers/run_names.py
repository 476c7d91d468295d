"""Resolution of query and document names in a run to the project's ids.

Runs that were made from an export of a release have the export's ids: ids of BEIR and Hugging Face exports
may have a prefix, and ids of TREC exports are percent-encoded if the project's id has white space. In exports
of other formats, ids are the project's ids.
"""

from __future__ import annotations

from urllib.parse import unquote

from curation.core.errors import InputError
from curation.ingest.importers.known_queries import PREFIXES, KnownQueries, QueryColumn
from curation.ingest.importers.unknown_names import KnownIds
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.run_files import RunFile


class RunNameResolver:
    """A resolver of query and document names in a run to the project's ids.

    Attributes
    ----------
    mapped: names from an export that were mapped back to the project's ids, by removing a prefix or decoding.
    problems: problems of ambiguous names.
    """

    def __init__(self, file: RunFile, queries: KnownQueries, documents: KnownIds, problems: Problems) -> None:
        has_ids = file.format in ("trec", "ranx-parquet")
        self.problems = problems
        self.mapped: set[str] = set()
        self._queries = QueryColumn(queries, file.fields.query, "id" if has_ids else None)
        self._known, self._documents = queries, documents
        self._is_prefixed = queries.shares_id_with(documents.look_up)
        self._is_encoded = file.format == "trec"
        self._ids: dict[str, str | None] = {}

    def list_candidates(self, name: str) -> tuple[str, ...]:
        """Return the document ids to which a name in a run may refer: the name as written, without its
        prefix, and decoded."""
        return name, name.removeprefix(PREFIXES[1]), self._decode_id(name)

    def resolve_document(self, name: str, line: int) -> str:
        """Return the project's id for a document whose name an export may have prefixed or encoded."""
        if "%" not in name and name in self._documents:
            return name
        _, without_prefix, decoded = self.list_candidates(name)
        if name in self._documents:
            if decoded in self._documents:
                self._note_two_ids(line, "document", name, decoded)
            return name
        for original in (without_prefix if self._is_prefixed else "", decoded):
            if original in self._documents:
                self.mapped.add(name)
                return original
        return name

    def resolve_query(self, name: str, line: int) -> str | None:
        """Return the project's id for a query; None for an unknown query, '' for an ambiguous text."""
        if name not in self._ids:
            try:
                query = self._queries.find(name, line)
                if query is None and self._is_prefixed and name.startswith(PREFIXES[0]):
                    query = self._known.find_by_id(name.removeprefix(PREFIXES[0]))
                    self.mapped |= {name} if query else set()
                decoded = self._decode_id(name)
                decoded_query = self._known.find_by_id(decoded) if decoded else None
                if query is not None and decoded_query is not None:
                    self._note_two_ids(line, "query", name, decoded)
                elif decoded_query is not None:
                    query = decoded_query
                    self.mapped.add(name)
                self._ids[name] = query and query.query_id
            except InputError as error:
                self.problems.add(line, str(error))
                self._ids[name] = ""
        return self._ids[name]

    def _decode_id(self, name: str) -> str:
        """Return the id that a TREC export percent-encoded as this name; '' if the name is not
        percent-encoded."""
        original = unquote(name) if self._is_encoded and "%" in name else name
        return original if original != name else ""

    def _note_two_ids(self, line: int, what: str, name: str, decoded: str) -> None:
        ids = f"the id {name!r}, or the id {decoded!r} as TREC exports encode ids"
        way_out = "Write the run as JSON lines or CSV with the project's own ids."
        self.problems.add(line, f"the {what} {name!r} may stand for {ids}", way_out)
