"""What files bring in, one module a kind: a corpus, traffic, queries, runs, judgments and reference answers.

Each reads its records (`files`), takes them into the project in one transaction, and counts what is left out.
"""

from curation.ingest.importers.left.reading import read_left
from curation.store.documents import ELSEWHERE

ELSEWHERE.append(read_left)
