"""A release in Python: read its content, and evaluate systems on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from curation.evaluation.scoring.release import choose_parts
from curation.people.seal_access import list_sealed_parts
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.releases.seal import open_sealed
from curation.releases.verify import Verified, verify
from curation.store import Document, Store
from goldgrade.inputs import Source

if TYPE_CHECKING:
    from curation.evaluation.evaluation import AnswerEvaluation
    from curation.evaluation.scoring.baselines import BaselineRuns
    from curation.releases.export.export import Exported
    from goldgrade.evaluations import Results


class Release:
    """A release: frozen, and verified when it is first read.

    In all methods, `part=None` means all parts that are not sealed, and `part="all"` means every part. Grades
    of a sealed part are given only with a `reason`, which is logged with the time.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self.name = name

    def __repr__(self) -> str:
        return f"goldgrade.release({self.name!r}, {str(self._store.path)!r})"

    @property
    def id(self) -> str:
        """Return the hash of the release's content."""
        return self._release.row.release_id

    @property
    def parts(self) -> dict[str, int]:
        """Return the number of queries in each part of the split."""
        return dict(self._release.header["queries"])

    @property
    def sealed(self) -> tuple[str, ...]:
        """Return the parts whose grades are sealed."""
        return tuple(list_sealed_parts(self._release.header))

    @property
    def mark(self) -> str | None:
        """Return a warning if the release was frozen despite the agreement gate; else None."""
        return self._release.mark

    def queries(self, part: str | None = None) -> dict[str, str]:
        """Read the release's queries: query id → text."""
        parts = choose_parts(self._release, part)
        rows = self._release.rows("queries")
        return {row["query_id"]: row["text"] for row in rows if row["part"] in parts}

    def qrels(self, part: str | None = None, *, reason: str | None = None) -> dict[str, dict[str, int]]:
        """Read the grades by query id and document id, as ir_measures, pytrec_eval and ranx take them."""
        parts = choose_parts(self._release, part)
        open_sealed(self._store, self._release, "read in Python", reason, parts=parts)
        grades: dict[str, dict[str, int]] = {query: {} for query in self.queries(part)}
        for row in self._release.walk("qrels"):
            if row["query_id"] in grades:
                grades[row["query_id"]][row["document_id"]] = row["grade"]
        return {query: query_grades for query, query_grades in grades.items() if query_grades}

    def documents(self) -> Iterator[Document]:
        """Yield the documents by id: `document_id`, `title`, `body`, `url`, `metadata` (JSON) and more."""
        return (document for _, document in self._release.documents(self._store) if document is not None)

    def evaluate(
        self,
        runs: Mapping[str, Source],
        part: str | None = None,
        *,
        measures: str | Sequence[str] | None = None,
        by: str | Sequence[str] = ("stratum",),
        relevant: int | None = None,
        seed: int = 0,
        reason: str | None = None,
    ) -> Results:
        """Compute systems' figures with their intervals, and compare the systems in pairs.

        Parameters
        ----------
        runs: the run of each system: {query id: {document id: score}}, a table of pandas, polars or Arrow,
            or a file that `goldgrade evaluate` reads.
        measures: names of measures, such as ["ndcg_exp@10", "recall@100"], or a single name.
        by: strata, tags or fields for which figures are reported separately.
        relevant: the lowest grade of a relevant document.
        """
        from goldgrade.evaluations import evaluate_sources, make_request

        request = make_request(
            measures, by, release=self.name, part=part, reason=reason, relevant=relevant, seed=seed
        )
        return evaluate_sources(self._store, self._release, runs, request)

    def evaluate_answers(
        self,
        answers: Mapping[str, str | Path],
        part: str | None = None,
        *,
        by: str | Sequence[str] = ("stratum",),
        reason: str | None = None,
    ) -> AnswerEvaluation:
        """Compare the answers in each system's file with the release's reference answers and nuggets."""
        from curation.evaluation.answers.evaluate_answers import evaluate_answers
        from curation.evaluation.request import EvaluateRequest
        from curation.evaluation.scoring.system_files import SystemFile
        from goldgrade.evaluations import make_request
        from goldgrade.wording import naming_arguments

        request = make_request(None, by, release=self.name, part=part, reason=reason)
        files = [SystemFile(name, Path(path)) for name, path in answers.items()]
        with naming_arguments(EvaluateRequest):
            return evaluate_answers(self._store, self._release, files, request)

    def run(self, out: str | Path, systems: Sequence[str] = ("bm25",), *, depth: int = 1000) -> BaselineRuns:
        """Search the release's documents with baselines, and write the runs into the folder `out`."""
        from curation.evaluation.scoring.baselines import BaselineRequest, write_baselines

        request = BaselineRequest(self.name, systems, Path(out), depth)
        return write_baselines(self._store, request)

    def export(
        self, format: str, out: str | Path, parts: Sequence[str] = (), *, reason: str | None = None
    ) -> Exported:
        """Write the release for other tools, such as "beir" or "trec", into the folder `out`."""
        from curation.releases.export.export import export
        from curation.releases.requests import ExportRequest

        request = ExportRequest(self.name, format, parts=tuple(parts), reason=reason)
        return export(self._store, request, Path(out))

    def verify(self) -> Verified:
        """Check every byte of the release against its checksum, and every document against its hash."""
        return verify(self._store, self.name)

    @cached_property
    def _release(self) -> FrozenRelease:
        return load_release(self._store, self.name)
