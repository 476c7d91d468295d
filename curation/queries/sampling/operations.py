"""The operation that tags queries by rules."""

from __future__ import annotations

from curation.core.operation import Operation, OperationOutcome
from curation.core.progress import Progress
from curation.core.reports.page import Table
from curation.core.text import amount
from curation.ingest.importers.query_tags import BY_PEOPLE, RULE_TAGS
from curation.queries.sampling.request import TagsRequest
from curation.queries.sampling.tags.find_tags import TagsFound, find_tags, queries_to_tag
from curation.store import Cursor, Store

PEOPLE_SET = f"Rules find {', '.join(RULE_TAGS)}. People set {', '.join(BY_PEOPLE)}, and tags of your own."


def _check_tags(cursor: Cursor, request: TagsRequest | None) -> None:
    queries_to_tag(cursor)


def _find_tags(store: Store, request: TagsRequest, progress: Progress, author: str) -> TagsFound:
    return find_tags(store, author)


def _tagged(_request: TagsRequest, tags_found: TagsFound) -> OperationOutcome:
    counts = ", ".join(f"{tag} {count:,}" for tag, count in tags_found.tags.items() if count)
    remarks = [f"{amount(tags_found.changed, 'tag')} changed."]
    if tags_found.by_person:
        remarks.append(f"For {amount(tags_found.by_person, 'tag')} a person's statement overrides the rule.")
    remarks.append(PEOPLE_SET)
    rows = tuple((tag, count) for tag, count in tags_found.tags.items() if tag in RULE_TAGS or count)
    queries = amount(tags_found.queries, "query", "queries")
    table = Table(f"Tags of {queries}", ("tag", "queries"), rows)
    return OperationOutcome(f"Of {queries}: {counts or 'none has a tag'}.", (table,), remarks=tuple(remarks))


OPERATIONS = {
    "tags": Operation(
        TagsRequest,
        _find_tags,
        _tagged,
        doing="tags are being looked for",
        kept="No tag was changed: look for them again.",
        check=_check_tags,
        first="reading the queries",
        on_path="sample",
    ),
}
