"""The report's sections on how an evaluation was made: its method, and the sealed evaluations so far."""

from __future__ import annotations

from curation.core.reports.page import Section
from curation.core.reports.tables import Table
from curation.evaluation.evaluation import Evaluation
from curation.releases.gate_override import mark_name


def write_sealed(evaluation: Evaluation) -> list[Section]:
    """Say how many evaluations the sealed parts have had; no section if no part is sealed."""
    count = evaluation.sealed_count
    if count is None:
        return []
    columns = ("parts", "sealed evaluations", "refused requests", "people", "reason for this evaluation")
    row = (", ".join(count.parts), count.evaluations, count.refused, count.people, count.reason)
    sentence = (
        "Each sealed evaluation makes the part a little less reliable as a test, because teams choose "
        "systems by its scores. The release keeps a log of all sealed evaluations."
    )
    return [Section("Sealed evaluations", sentence, (), (Table("So far", columns, (row,), words=True),))]


def write_method(evaluation: Evaluation) -> list[Section]:
    """Describe the measures, and everything needed to repeat the evaluation."""
    measures = tuple((name, evaluation.about[name]) for name in evaluation.measures)
    facts = [
        ("release", mark_name(evaluation.release, evaluation.mark)),
        ("release id", evaluation.release_id),
        ("parts", ", ".join(evaluation.parts)),
        ("sealed parts evaluated", ", ".join(evaluation.sealed) or "none"),
        ("relevant", f"grades of {evaluation.relevant_grade} or more"),
        ("seed", str(evaluation.seed)),
        ("resamples", f"{evaluation.resamples:,}"),
        *((f"version of {name}", version) for name, version in evaluation.versions.items()),
    ]
    sentence = (
        "Lists are ordered by score in double precision, as in trec_eval 10. Equal scores are ordered by "
        "document id, descending."
    )
    definitions = Table("Measures", ("measure", "what the measure computes"), measures, words=True)
    settings = Table("Settings to repeat the evaluation", ("what", "value"), tuple(facts), words=True)
    return [Section("Method", sentence, (), (definitions, settings))]
