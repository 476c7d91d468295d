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
from goldgrade.wording import naming_arguments

if TYPE_CHECKING:
    from curation.agreement.report import AgreementReport
    from curation.evaluation.llm_judges.ask_judge import AskedJudge
    from curation.ingest.outcome import ImportOutcome
    from curation.labeling.rounds.create_round import OpenedRound
    from curation.pooling.pool_report import PoolReport
    from curation.queries.coverage.report import CoverageReport
    from curation.queries.sampling.stored_sample import SampleReport
    from curation.relabeling.open_quarter import QuarterOpened
    from curation.relabeling.plan import RelabelingPlan
    from curation.releases.diff import Diff
    from curation.releases.freeze.freeze import Frozen
    from curation.retrieval.engines.runs import EngineRunImport
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

    def open_round(self, name: str, annotators: Sequence[str], **options: object) -> OpenedRound:
        """Open a round of labeling for named annotators."""
        from curation.labeling.requests import RoundRequest
        from curation.labeling.rounds.create_round import open_round

        values = {"name": name, "annotators": annotators, **options}
        with naming_arguments(RoundRequest):
            return open_round(self._store, _read_options("open_round", RoundRequest, values))

    def ask_judge(self, name: str, **options: object) -> AskedJudge:
        """Have a language model grade pairs as a judge; environment variables name the model's address."""
        asked: AskedJudge = self._run_step("ask judge", name=name, **options)
        return asked

    def plan_relabeling(self, **options: object) -> RelabelingPlan:
        """Plan which pairs people judge again this quarter."""
        plan: RelabelingPlan = self._run_step("plan re-labeling", **options)
        return plan

    def relabel(self, annotators: Sequence[str], **options: object) -> QuarterOpened:
        """Open the round of this quarter's plan."""
        opened: QuarterOpened = self._run_step("relabel", annotators=tuple(annotators), **options)
        return opened

    def add_engine(self, name: str, kind: str, template: str | Path) -> None:
        """Store a search engine; environment variables name its address and its key."""
        from curation.retrieval.engines.stored_engines import add_engine

        add_engine(self._store, name, kind, Path(template))

    def search_engine(self, engine: str, name: str = "", *, depth: int = 100) -> EngineRunImport:
        """Send all current queries to an engine, and store its lists as a run."""
        from curation.retrieval.engines.runs import EngineRunRequest, import_engine_run

        return import_engine_run(self._store, EngineRunRequest(engine, name, depth))

    def diff(self, old: str, new: str, *, reason: str | None = None) -> Diff:
        """Compare two releases; with a `reason`, changed grades of sealed parts are listed, too."""
        from curation.releases.diff import compare_releases

        return compare_releases(self._store, old, new, reason)

    def release(self, name: str) -> Release:
        """Read a release of this project."""
        return Release(self._store, name)

    def releases(self) -> list[str]:
        """List the names of all releases, in the order of freezing."""
        from curation.releases.release_rows import list_releases

        with self._store.reading() as cursor:
            return [row.name for row in list_releases(cursor)]

    def close(self) -> None:
        """Unlock the project file at once, instead of after a quarter of a second."""
        self._store.close()

    def _run_step(self, step: str, /, **values: object) -> Any:
        """Make a request from `values`, and run a step's operation for it."""
        operation = OPERATIONS[step]
        with naming_arguments(operation.request):
            request = _read_options(step, operation.request, values)
            return operation.run(self._store, request, silent, COMMAND_LINE)


def _read_options(step: str, request_type: Any, values: Mapping[str, object]) -> Any:
    """Make a step's request from the arguments of a call.

    Raises
    ------
    InputError: a value belongs to no option of the step, or has the wrong type.
    """
    options = flatten_request(build_request(request_type, {}))
    if unknown := values.keys() - options.keys():
        names = ", ".join(sorted(unknown))
        raise InputError(f"{step} has no option {names}; its options are {', '.join(options)}.")
    return read_request(request_type, asdict(build_request(request_type, values)))
