"""README.md of an export: the data-set card, and which rule gives which figure.

Its front matter names the files as configs, by which `datasets.load_dataset` takes the folder. Each config
names the release: `datasets` would else take two folders of one name for the same data. The words are in the
template `readme.md`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from curation.releases.card.card import template
from curation.releases.export.export_source import ExportSource
from curation.releases.export.formats.export_format import ExportFormat, Written

_LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*")
_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
)


def write_readme(folder: Path, gold: ExportSource, format: ExportFormat, written: Written) -> None:
    """The card under its front matter, and the rules of the figures."""
    import yaml

    queries = Counter(gold.part_of.values())
    text = template(__package__, "readme.md").render(
        matter=yaml.safe_dump(front_matter(gold, written), sort_keys=False, allow_unicode=True),
        card=gold.card.text,
        parts=[(part, queries[part], found) for part, found in gold.with_relevant.items()],
        above_lowest=gold.above_lowest,
        reading=format.reading if gold.drawn else "",
        evidence="evidence" in gold.about_grades,
    )
    (folder / "README.md").write_text(text, encoding="utf-8", newline="\n")


def front_matter(gold: ExportSource, written: Written) -> dict[str, Any]:
    """What a data-set card says to machines."""
    licence = gold.options.licence
    named: dict[str, Any] = {"license": licence}
    if not _LICENCE.fullmatch(licence):
        named = {"license": "other", "license_name": licence}
    return {
        **named,
        "pretty_name": gold.name,
        "task_categories": ["text-retrieval"],
        "tags": ["goldgrade", f"release-{gold.release_id[:12]}"],
        "size_categories": [_size(len(gold.documents.ids))],
        "configs": [
            {
                "config_name": config,
                "description": f"release {gold.release_id}",  # `datasets` keys its cache by it and the folder
                **written.loading,
                "data_files": [{"split": split, "path": path} for split, path in splits.items()],
            }
            for config, splits in sorted(written.configs.items())
        ],
    }


def _size(documents: int) -> str:
    return next((name for limit, name in _SIZES if documents < limit), "n>10M")
