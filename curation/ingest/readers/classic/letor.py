"""LETOR's and RankLib's lines: `3 qid:7 1:0.5 2:0.1 # DOCUMENT TEXT OF THE QUERY`, or `# docid = DOCUMENT …`.

The text names the query where there is one, for a number is the file's own; without a text it must be the id
of a query. Features are passed over. As in LETOR's semi-supervised sets, -1 is a pair that was not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from curation.ingest.readers.classic.prose import shown
from curation.ingest.readers.problems import Problems

LINE = re.compile(r"\s*(\S+)\s+qid:(\S+)((?:\s+\d+:\S+)*)\s*(?:#\s*(.*))?")
_NAMED = re.compile(r"docid\s*=\s*(\S+)")


def letor_rows(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The judgments (query, document, grade); a line without a document is a problem."""
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = LINE.fullmatch(line.rstrip())
        comment = (match and match[4]) or ""
        named = _NAMED.match(comment)
        document, _, text = (named[1], "", "") if named else comment.partition(" ")
        if match is None or not document:
            problems.add(number, f"found {shown(line)}", "Expected GRADE qid:QUERY FEATURES # DOCUMENT.")
        else:
            text = text.strip()
            query = {"query": text} if text else {"query_id": match[2]}
            yield number, {**query, "document": document, "grade": match[1]}
