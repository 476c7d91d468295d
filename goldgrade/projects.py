"""A project in Python: a method for each step from a log to a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.core.errors import InputError
from curation.core.progress import silent
from curation.core.request import build_request, flatten_request, read_request
from curation.operations.registry import OPERATIONS
from curation.store import COMMAND_LINE, Store
from goldgrade.releases import Release

if TYPE_CHECKING:
    from curation.agreement.report import AgreementReport
    from curation.ingest.outcome import ImportOutcome
    from curation.pooling.pool_report import PoolReport
    from curation.queries.coverage.report import CoverageReport
    from curation.queries.sampling.stored_sample import SampleReport
    from curation.releases.freeze.freeze import Frozen
    from curation.splits.split_report import SplitReport


class Project:
    """A goldgrade project; other processes may use the project at the same time.

    Each step takes the options of its command as keyword arguments, named like the fields of the request. An
    unknown option is refused with a list of the options.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def __repr__(self) -> str:
        return f"goldgrade.open({str(self._store.path)!r})"

    def import_file(
        self,
        what: str,
        path: str | Path,
        *,
        fields: Mapping[str, str | Sequence[str] | None] | None = None,
        **options: object,
    ) -> ImportOutcome:
        """Import a whole file; after an error, the project is unchanged.

        Parameters
        ----------
        what: "corpus", "traffic", "queries", "run", "judgments" or a different kind of file.
        fields: the file's column for each field; columns of other fields are found by their usual names.
        options: further options of this kind of file, such as `skip_unknown=True` for judgments.
        """

        from curation.ingest.requests import make_request
        from curation.operations.import_jobs import import_for_page

        return import_for_page(self._store, make_request(what, path, fields, **options), COMMAND_LINE)

    def sample(self, size: int, *, seed: int = 0, **options: object) -> SampleReport:
        """Draw queries from the traffic; each query is stored with its inclusion probability."""
        report: SampleReport = self._run_step("sample", size=size, seed=seed, **options)
        return report

    def pool(
        self, systems: Sequence[str] = ("bm25",), *, depth: int = 10, seed: int = 0, **options: object
    ) -> PoolReport:
        """Find the documents to judge: each system's first `depth` documents, and random documents."""
        report: PoolReport = self._run_step("pool", systems=systems, depth=depth, seed=seed, **options)
        return report

    def coverage(self, **options: object) -> CoverageReport:
        """Measure which regions of the corpus the queries cover; requires the packages of the extra
        `dense`."""
        report: CoverageReport = self._run_step("coverage", **options)
        return report

    def agreement(self, round: str | None = None) -> AgreementReport:
        """Compute how far annotators agree with each other and with themselves."""
        from curation.agreement.report import make_agreement_report

        return make_agreement_report(self._store, round)

    def split(
        self, parts: Mapping[str, float] | None = None, *, seed: int = 0, **options: object
    ) -> SplitReport:
        """Split the graded queries without leakage; `parts` maps names to fractions, by default 0.7 dev and
        0.3 test. With `paraphrase=None` the split works without an embedding model.
        """
        if parts is not None:
            options["parts"] = tuple(parts.items())
        report: SplitReport = self._run_step("split", seed=seed, **options)
        return report

    def freeze(self, name: str, **options: object) -> Frozen:
        """Freeze the current grades under a name; the result's `release_id` is the hash of the content."""
        frozen: Frozen = self._run_step("freeze", name=name, **options)
        return frozen

    def release(self, name: str) -> Release:
        """Read a release of this project."""
        return Release(self._store, name)

    def releases(self) -> list[str]:
        """List the names of all releases, in the order of freezing."""
        from curation.releases.release_rows import list_releases

        with self._store.reading() as cursor:
            return [row.name for row in list_releases(cursor)]

    def close(self) -> None:
        """Unlock the project file at once; otherwise this takes a quarter of a second."""
        self._store.close()

    def _run_step(self, step: str, /, **values: object) -> Any:
        """Run the operation of a step for a request with these values.

        Raises
        ------
        InputError: a value belongs to no option of the step.
        """
        operation = OPERATIONS[step]
        options = flatten_request(build_request(operation.request, {}))
        if unknown := values.keys() - options.keys():
            names = ", ".join(sorted(unknown))
            raise InputError(f"{step} has no option {names}; its options are {', '.join(options)}.")
        request = read_request(operation.request, asdict(build_request(operation.request, values)))
        return operation.run(self._store, request, silent, COMMAND_LINE)
