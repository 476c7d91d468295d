"""What a person can choose on the page Evaluate for a release, such as parts and measures."""

from __future__ import annotations

from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.evaluation.scoring.facets import list_facet_names, read_dimensions
from curation.evaluation.scoring.measure_names import CHUNK_MEASURES, DEFAULT_MEASURES, choose_measures
from curation.evaluation.scoring.release import read_scale
from curation.people.seal_access import list_sealed_parts
from curation.releases.gate_override import describe_override
from curation.releases.release_rows import ReleaseRow
from curation.store import Cursor
from curation.store.release_parts import PartText, read_parts


class EvaluableRelease(NamedTuple):
    """A release with the choices for evaluating systems on it.

    Attributes
    ----------
    parts: part → whether it is sealed; parts that are not sealed come first.
    measures: the default measures that the scale allows; with evidence, measures of chunks.
    facets: the names of all facets.
    scale: the grades of the scale, ascending.
    queries: part → its number of queries.
    mark: the mark of a release that was frozen despite the gate; None for other releases.
    """

    row: ReleaseRow
    parts: dict[str, bool]
    measures: tuple[str, ...]
    facets: tuple[str, ...]
    scale: tuple[int, ...]
    queries: dict[str, int]
    mark: str | None = None


def read_choices(cursor: Cursor, row: ReleaseRow) -> EvaluableRelease:
    """Read the choices for evaluating systems on a release. The evaluation itself verifies the release in
    full.

    Raises
    ------
    RefusedError: the release has changed since the freeze.
    """
    try:
        stored = read_parts(cursor, row.release_id, ["release", "guides", "sampling", "coverage", "evidence"])
        (header,) = stored["release"]
        sealed = list_sealed_parts(header)
        names = sorted(header["queries"], key=lambda part: (part in sealed, part))
        scale = read_scale(list(stored["guides"]))
        default = CHUNK_MEASURES if "evidence" in stored else DEFAULT_MEASURES
        dimensions = read_dimensions(list(stored.get("sampling", PartText())))
        return EvaluableRelease(
            row=row,
            parts={part: part in sealed for part in names},
            measures=tuple(measure.name for measure in choose_measures(scale, None, default)),
            facets=list_facet_names(dimensions, "coverage" in stored),
            scale=tuple(scale),
            queries=header["queries"],
            mark=describe_override(header),
        )
    except (KeyError, ValueError) as error:
        raise RefusedError(
            "The release has changed since it was frozen.",
            command="`goldgrade verify` lists the differences.",
        ) from error
