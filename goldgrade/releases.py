"""A release in Python: its queries, documents and grades, and the figures of systems on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from curation.core.errors import InputError
from curation.evaluation.scoring.release import parts_of
from curation.people.seal_access import sealed_parts
from curation.releases.seal import open_sealed
from curation.releases.verify import FrozenRelease, Verified, load_release, verify
from curation.store import Document, Store

if TYPE_CHECKING:
    from curation.evaluation.evaluation import Evaluation
    from curation.evaluation.scoring.baselines import BaselineRuns
    from curation.releases.export.export import Exported

Run = Mapping[str, Mapping[str, float]]
"""Query id → document id → score."""


class Release:
    """A release: frozen, and verified when it is first read.

    Where a method takes `part`, None is all parts that are not sealed, and "all" every part. Grades of a
    sealed part are given with a `reason`, which is logged with the time.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store, self.name = store, name

    def __repr__(self) -> str:
        return f"goldgrade.release({self.name!r}, {str(self._store.path)!r})"

    @property
    def id(self) -> str:
        """The hash of its content."""
        return self._opened.row.release_id

    @property
    def parts(self) -> dict[str, int]:
        """Part of the split → number of its queries."""
        return dict(self._opened.header["queries"])

    @property
    def sealed(self) -> tuple[str, ...]:
        """The parts whose grades are sealed."""
        return tuple(sealed_parts(self._opened.header))

    @property
    def mark(self) -> str | None:
        """That it was frozen against the gate, and what spoke against it; None if nothing did."""
        return self._opened.mark

    def queries(self, part: str | None = None) -> dict[str, str]:
        """Query id → text."""
        parts, rows = parts_of(self._opened, part), self._opened.rows("queries")
        return {row["query_id"]: row["text"] for row in rows if row["part"] in parts}

    def qrels(self, part: str | None = None, *, reason: str | None = None) -> dict[str, dict[str, int]]:
        """Query id → document id → grade, as ir_measures, pytrec_eval and ranx take them."""
        parts = parts_of(self._opened, part)
        open_sealed(self._store, self._opened, "read in Python", reason, parts=parts)
        grades: dict[str, dict[str, int]] = {query: {} for query in self.queries(part)}
        for row in self._opened.walk("qrels"):
            if row["query_id"] in grades:
                grades[row["query_id"]][row["document_id"]] = row["grade"]
        return {query: grades for query, grades in grades.items() if grades}

    def documents(self) -> Iterator[Document]:
        """The documents, ordered by id: `document_id`, `title`, `body`, `url`, `metadata` (JSON) and more."""
        return (document for _, document in self._opened.documents(self._store) if document is not None)

    def evaluate(
        self,
        runs: Mapping[str, Run | str | Path],
        part: str | None = None,
        *,
        measures: str | Sequence[str] | None = None,
        by: str | Sequence[str] = ("stratum",),
        relevant: int | None = None,
        seed: int = 0,
        reason: str | None = None,
    ) -> Evaluation:
        """Figures of systems with their intervals, compared in pairs.

        Parameters
        ----------
        runs: system → its run: {query id: {document id: score}}, or a file as `goldgrade evaluate` reads.
        measures: such as ["ndcg_exp@10", "recall@100"], or a single one; by: strata, tags or fields with
            figures of their own.
        relevant: least grade of a relevant document.
        """
        from curation.evaluation.evaluate_runs import evaluate_runs
        from curation.evaluation.request import EvaluateRequest
        from curation.evaluation.scoring.system_runs import RunSource

        wanted = None if measures is None else _several(measures)
        request = EvaluateRequest(
            self.name, part, wanted, _several(by), reason=reason, relevant=relevant, seed=seed
        )
        with _files(runs) as files:
            sources = [RunSource(name, path) for name, path in files.items()]
            return evaluate_runs(self._store, self._opened, sources, request)

    def run(self, out: str | Path, systems: Sequence[str] = ("bm25",), *, depth: int = 1000) -> BaselineRuns:
        """Search the release's documents with baselines; OUT gets a run file of each, for `evaluate`."""
        from curation.evaluation.scoring.baselines import write_baselines

        return write_baselines(self._store, self.name, systems, Path(out), depth=depth)

    def export(
        self, format: str, out: str | Path, parts: Sequence[str] = (), *, reason: str | None = None
    ) -> Exported:
        """Write the release for other tools, such as "beir" or "trec", into the folder `out`."""
        from curation.releases.export.export import export
        from curation.releases.requests import ExportRequest

        request = ExportRequest(self.name, format, parts=tuple(parts), reason=reason)
        return export(self._store, request, Path(out))

    def verify(self) -> Verified:
        """Every byte against its sum, and every document against its hash."""
        return verify(self._store, self.name)

    @cached_property
    def _opened(self) -> FrozenRelease:
        return load_release(self._store, self.name)


def _several(given: str | Sequence[str]) -> Sequence[str]:
    """A single text is one name, not its letters."""
    return [given] if isinstance(given, str) else given


@contextmanager
def _files(runs: Mapping[str, Run | str | Path]) -> Iterator[dict[str, Path]]:
    """Each run's file; one in memory is written to a file for now, and an error names the run instead."""
    with TemporaryDirectory() as folder:
        files = {
            name: _file(run, Path(folder) / f"{index}.json") for index, (name, run) in enumerate(runs.items())
        }
        try:
            yield files
        except InputError as error:
            for name, path in files.items():
                if error.path == path and path.parent == Path(folder):
                    called = Path(f"the run {name!r}")
                    raise InputError(error.problems, path=called, way_out=error.way_out) from None
            raise


def _file(run: Run | str | Path, path: Path) -> Path:
    """The run's file; of one in memory, it is written to `path`."""
    if not isinstance(run, Mapping):
        return Path(run)
    path.write_text(json.dumps({query: dict(scores) for query, scores in run.items()}), encoding="utf-8")
    return path
