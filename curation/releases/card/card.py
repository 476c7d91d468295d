"""The data-set card: what a release is and how far it can be trusted, written from its content alone.

The sections follow what data sheets ask for (Gebru and others 2021, Datasheets for Datasets): where the
queries come from, who labelled and how well they agree, what is covered, what is not known. No person is
named: a release knows none. Figures that are undefined say why, and each figure has its size beside it.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from curation.door import sealed_parts
from curation.releases.card.limits import limits_of
from curation.releases.card.markdown import Lines, bullets, counts, listed, percent, table
from curation.releases.coverage import about_grid, about_map, released_coverage
from curation.releases.pairs import Codes, PairCodes, distinct, documents_of, number_in
from curation.releases.verify import Opened
from curation.text import amount

UNKNOWN = "unknown"
FEW_TAGS = 20


@dataclass(frozen=True)
class Card:
    """The card of an opened release; `licence` is what its owner says."""

    release: Opened
    licence: str = UNKNOWN

    @property
    def text(self) -> str:
        """Markdown, without front matter."""
        sections: dict[str, Callable[[], Lines]] = {
            "What is in it": self._contents,
            "Queries": self._queries,
            "Labels": self._labels,
            "Agreement": self._agreement,
            "Coverage": self._coverage,
            "Split": self._split,
            "Known limits": lambda: bullets(self.limits),
            "Personal data": self._personal,
            "Licence": self._licence,
        }
        lines = [f"# {self.release.row.name}", "", *self._opening()]
        for title, section in sections.items():
            lines += ["", f"## {title}", "", *section()]
        return "\n".join(lines) + "\n"

    @property
    def limits(self) -> Lines:
        """What somebody who uses the release must know, as sentences."""
        return limits_of(self.release) or ["None that follows from the data."]

    @cached_property
    def _between(self) -> Mapping[str, Any]:
        between: Mapping[str, Any] = self._figures["between"]
        return between

    @cached_property
    def _figures(self) -> Mapping[str, Any]:
        return self.release.rows("agreement")[0]

    def _opening(self) -> Lines:
        header = self.release.header
        return [
            f"Queries, documents and human relevance grades for retrieval: {_number(header['queries'])} "
            f"queries, {header['documents']:,} documents, {_number(header['grades'])} grades. A frozen "
            f"release of goldset; its content hashes to",
            "",
            f"    {self.release.row.release_id}",
        ]

    def _contents(self) -> Lines:
        header = self.release.header
        sealed = sealed_parts(header)
        rows = [
            (part, queries, header["grades"][part], "yes" if part in sealed else "no")
            for part, queries in sorted(header["queries"].items())
        ]
        lines = table(("part", "queries", "grades", "sealed"), rows)
        if sealed:
            lines += [
                "",
                f"The grades of {listed(sealed)} are sealed: they are handed out for a stated reason only, "
                "and each time is logged. An export may come without them; its manifest.json says so.",
            ]
        if header["left_out"]:
            left_out = (f"{count:,} × {reason}" for reason, count in header["left_out"].items())
            lines += ["", f"Left out when it was frozen: {'; '.join(left_out)}."]
        return lines

    def _queries(self) -> Lines:
        queries = self.release.rows("queries")
        sources = Counter(query["source"] for query in queries)
        lines = [f"By where they come from: {counts(sources)}."]
        models = Counter(query["written_by"]["model"] for query in queries if "written_by" in query)
        if models:
            lines += ["", f"Language models wrote the synthetic queries: {counts(models)}."]
        for sample in self.release.rows("sampling"):
            lines += ["", *_sampled(sample)]
        if not self.release.rows("sampling"):
            lines += ["", "No sample was drawn: the queries were brought in or written, not sampled."]
        tags = Counter(tag for query in queries for tag in query.get("tags", ()))
        if tags:
            lines += ["", f"Tags, of rules and people: {counts(dict(tags.most_common(FEW_TAGS)))}."]
        answers = self.release.rows("answers")
        if answers:
            lines += ["", f"{len(answers):,} of {len(queries):,} queries have reference answers."]
        return lines

    def _labels(self) -> Lines:
        given = Counter(
            (row["annotator"], row["kind"] == "cannot_tell", row["duplicate"])
            for row in self.release.walk("judgments")
        )
        people = {annotator for annotator, *_ in given}
        rounds = Counter(row["kind"] for row in self.release.rows("rounds"))
        unclear = sum(count for (_, unclear, _), count in given.items() if unclear)
        repeats = sum(count for (*_, repeat), count in given.items() if repeat)
        decided = amount(len(self.release.rows("adjudications")), "pair")
        hows = counts(Counter(row["how"] for row in self.release.walk("qrels")))
        lines = [
            f"{amount(len(people), 'annotator')} gave {amount(given.total(), 'judgment')}, "
            f"{unclear:,} of them "
            f"“cannot tell” and {repeats:,} on blind duplicates, in rounds of kind {counts(rounds)}. They "
            "are known by number only.",
            "",
            f"Reviewers decided {decided}. Grades came about by {hows}; rule: "
            f"{self._figures['consensus']['rule']}.",
        ]
        for guide in self.release.rows("guides"):
            lines += ["", f"Guide “{guide['title']}”, hash {guide['guide_hash']}:", ""]
            scale = [(grade["value"], grade["name"], grade["definition"]) for grade in guide["scale"]]
            lines += table(("grade", "name", "definition"), scale)
        return lines

    def _agreement(self) -> Lines:
        between = self._between
        rows = [
            *(
                (f"Krippendorff's alpha, {level}", between[level], "alpha")
                for level in ("ordinal", "interval")
            ),
            ("Krippendorff's alpha, nominal", between["nominal"], "alpha"),
            ("equal grades among pairs of grades", between["raw"], "share"),
        ]
        figures = [(name, *_figure(found, key)) for name, found, key in rows]
        lines = [
            f"Between annotators, on {between['units']:,} pairs that at least two graded "
            f"({between['single']:,} have one grade):",
            "",
            *table(("figure", "value", "95 % interval", "doubly judged pairs"), figures),
            "",
            self._consistency(),
        ]
        gate = self._figures.get("gate", ())
        lines += ["", *(f"Demanded of {_check(check)}" for check in gate)] if gate else []
        if override := self.release.header.get("override"):
            lines += [
                "",
                f"It was frozen against this demand by {override['by']}: "
                f"“{' '.join(override['reason'].split())}”.",
            ]
        return lines

    def _consistency(self) -> str:
        rows = self._figures["within"]
        judged = sum(row["n"] for row in rows)
        if not judged:
            why = sorted({str(row["undefined"]) for row in rows}) or ["nobody judged"]
            return f"Of annotators with themselves: undefined ({'; '.join(why)})."
        same = sum(round(row["identical"] * row["n"]) for row in rows if row["n"])
        return (
            f"Of annotators with themselves: {same / judged:.1%} of {judged:,} blind duplicates were graded "
            "alike."
        )

    def _coverage(self) -> Lines:
        header = self.release.header
        codes = PairCodes()
        judged = codes.of(self.release.walk("qrels"))
        documents = documents_of(judged)
        pools = self.release.rows("pools")
        share = percent(documents, header["documents"])
        lines = [f"{documents:,} of {header['documents']:,} documents ({share}) have a grade for some query."]
        lines += ["", *self._regions()]
        if not pools:
            return [*lines, "", "No pool was built here: which documents were judged is the source's choice."]
        pooled = codes.of(self._pooled())
        have = number_in(pooled, judged)
        lines += [
            "",
            f"{len(pooled):,} pairs were pooled; {have:,} ({percent(have, len(pooled))}) have a grade.",
            "",
        ]
        lines += table(("system", "pairs", "deepest rank", "judged"), self._systems(codes, judged))
        return lines + _pool_sample(self.release, codes, judged)

    def _pooled(self) -> Iterator[dict[str, Any]]:
        """The candidates that a pool of this project proposed, one by one."""
        return (row for row in self.release.walk("candidates") if row["pool_id"] is not None)

    def _regions(self) -> Lines:
        """Which regions of the corpus have a query, and the grid's boundaries."""
        found = released_coverage(self.release)
        if found is None:
            return ["No coverage map was frozen: which regions of the corpus nothing tests is unknown."]
        return [f"{about_map(found)} {about_grid(found)}".rstrip()]

    def _systems(self, codes: PairCodes, judged: Codes) -> list[tuple[Any, ...]]:
        """System, pairs that it proposed, its deepest rank, and the share of them that has a grade."""
        proposed: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
        deepest: Counter[str] = Counter()
        for row in self._pooled():
            proposed[row["system"]].append(codes.code(row["query_id"], row["document_id"]))
            deepest[row["system"]] = max(deepest[row["system"]], row["rank"] or 0)
        found = {system: distinct(pairs) for system, pairs in sorted(proposed.items())}
        return [
            (system, len(pairs), deepest[system] or "–", percent(number_in(pairs, judged), len(pairs)))
            for system, pairs in found.items()
        ]

    def _split(self) -> Lines:
        split = self.release.rows("split")[0]
        settings = split["parameters"]
        groups = Counter(query["group"] for query in self.release.rows("queries"))
        largest = max(groups.values(), default=0)
        fractions = settings.get("parts", {})
        asked = ", ".join(f"{part} {share:g}" for part, share in sorted(fractions.items()))
        lines = [
            f"Split {split['split_id']}, seed {settings.get('seed')}; parts asked for: {asked}. Queries that "
            f"could give each other away stay together: {len(groups):,} groups, the largest of {largest:,}. "
            f"Relevant is a grade of {settings['relevant_grade']} or more.",
            "",
        ]
        return lines + _certified(split["certificate"])

    def _personal(self) -> Lines:
        told = [
            "Annotators and reviewers are numbers; their names are not in the release. Reviewers' reasons "
            "are kept without the names by which the project knows people.",
        ]
        for sample in self.release.rows("sampling"):
            log = sample.get("log")
            if log is None:
                told.append("What was found in the traffic log was not recorded in this release.")
                continue
            found = log["personal_data"]
            told += [
                f"The traffic log was searched for e-mail addresses, phone numbers, cards, bank accounts, "
                f"addresses of machines, identity numbers and keys before anything was stored. Replaced by "
                f"placeholders: {_rows_of(found)}. Names of people, street addresses and what is spelled out "
                "in words are not looked for.",
                "Sessions of the log are stored as keyed hashes in the project, and in no release.",
            ]
        told.append("Documents are as their source has them: goldset does not search them for personal data.")
        return bullets(told)

    def _licence(self) -> Lines:
        if self.licence == UNKNOWN:
            return ["Unknown: nobody said under which licence these data may be used. Ask their owner first."]
        return [f"{self.licence}, as stated by who exported it."]


def _pool_sample(release: Opened, codes: PairCodes, judged: Codes) -> Lines:
    """What was drawn of each sampled pool, by band of ranks; nothing where no pool was sampled."""
    designs = {row["pool_id"]: row["parameters"].get("sample") for row in release.rows("pools")}
    counts: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for row in release.walk("pool_sample"):
        names = ({"query_id": row["query_id"], "document_id": name} for name in row["drawn"])
        graded = number_in(codes.of(names), judged)
        drawn, left = len(row["drawn"]), len(row["not_drawn"])
        counts[row["pool_id"], row["band"]].update(pooled=drawn + left, drawn=drawn, graded=graded)
    if not counts:
        return []
    rows = [
        (
            *(pool_id[:8], _ranks(designs.get(pool_id), band), found["pooled"], found["drawn"]),
            *(percent(found["drawn"], found["pooled"]), found["graded"]),
        )
        for (pool_id, band), found in sorted(counts.items())
    ]
    header = ("pool", "ranks", "pooled pairs", "drawn", "rate", "of these graded")
    return [
        "",
        "A random sample of the pool was judged. In each band of each query, by the best rank that a system "
        "gave, pairs were drawn without replacement; the release keeps the probability of every pair. "
        "`goldset evaluate` infers AP and nDCG of the whole pool from it.",
        "",
        *table(header, rows),
    ]


def _ranks(design: Mapping[str, Any] | None, band: int) -> str:
    """The ranks of a band, from its pool's design."""
    if design is None:
        return f"band {band}"
    lasts = [0, *(last for last, _ in design["bands"])]
    return f"{lasts[band - 1] + 1:,} to {lasts[band]:,}"


def _sampled(sample: Mapping[str, Any]) -> Lines:
    parameters = sample["parameters"]
    by = ", ".join(parameters["strata"]) or "none"
    allocation = f", allocation {parameters['allocation']}" if parameters.get("allocation") else ""
    since, until = parameters.get("since"), parameters.get("until")
    window = f"from {since or 'its beginning'} to {until or 'its end'} (UTC)"
    log = sample.get("log")
    lines = [
        f"Sampled from traffic: {parameters['size']:,} distinct queries, design {parameters['design']}, "
        f"strata by {by}{allocation}, seed {parameters['seed']}. Window of the log: {window}. Each query "
        "keeps its inclusion probability, by whose inverse estimates over the traffic are weighted.",
    ]
    if log:
        span = f", logged from {log['first']} to {log['last']}" if log["first"] else ", without times"
        reasons = "; ".join(f"{count:,} × {reason}" for reason, count in log["left_out"].items())
        lines += [
            "",
            f"The log: {amount(log['rows'], 'row')} of {amount(log['imports'], 'import')}{span}. "
            f"Left out at import: {reasons or 'nothing'}.",
        ]
    rows = [
        (row["name"], row["population"], row["traffic"], row["drawn"], _probability(row["probability"]))
        for row in sample["report"]
    ]
    header = ("stratum", "queries in the log", "times asked", "drawn", "mean probability")
    return [*lines, "", *table(header, rows)]


def _certified(certificate: Mapping[str, Any]) -> Lines:
    """What an exhaustive look across the parts found; no pair is named, as that would tell of its grades."""
    rows = [
        (
            check["kind"] if check["looked_for"] else f"{check['kind']} (for information only)",
            check["compared"],
            "–" if check["threshold"] is None else f"{check['threshold']:g}",
            "–" if check["highest"] is None else f"{check['highest']['similarity']:.2f}",
            check["crossing"],
            check["cut"],
        )
        for check in certificate["checks"]
    ]
    header = ("tie", "pairs compared", "threshold", "highest similarity across", "crossing", "cut by choice")
    lines = table(header, rows)
    whole = [row for row in certificate["distances"] if row["dimension"] == "all"]
    for row in whole:
        lines += ["", f"Queries on another side than the fractions ask for: {row['queries']:g}."]
    if residual := len(certificate["residual"]):
        lines += [
            "",
            f"Residual leakage: {residual:,} ties were cut by name and cross the parts all the same.",
        ]
    return lines


def _figure(found: Mapping[str, Any], key: str) -> tuple[str, str, int]:
    """Value, interval and size of a figure; why where there is none."""
    if found[key] is None:
        return f"undefined: {found['undefined']}", "–", found["units"]
    few = " (too few pairs for a figure)" if found["too_few"] else ""
    if found["low"] is None:
        return f"{found[key]:.3f}{few}", f"none: {found['no_interval']}", found["units"]
    return f"{found[key]:.3f}{few}", f"{found['low']:.3f} to {found['high']:.3f}", found["units"]


def _check(check: Mapping[str, Any]) -> str:
    """What a project demanded of a figure, and what it was."""
    wanted = f"{check['figure']}: {check['wanted']:g}; "
    if check["value"] is None:
        return f"{wanted}{check['state']} ({check['why']})."
    return f"{wanted}{check['state']}, at {check['value']:.3f} on {check['n']:,}."


def _number(counts: Mapping[str, int]) -> str:
    return f"{sum(counts.values()):,}"


def _rows_of(counts: Mapping[str, int]) -> str:
    return (
        ", ".join(f"{kind} in {amount(count, 'row')}" for kind, count in sorted(counts.items()))
        or "none was found"
    )


def _probability(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
