"""An export's README.md: front matter, data-set card, and the rules for evaluation figures.

The template `readme.md` contains the text. The front matter names the files as configs, with which
`datasets.load_dataset` loads the folder. Each config names the release, because `datasets` would confuse two
folders that have the same name.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from curation.releases.card import load_template, write_card
from curation.releases.export.export_format import ExportFormat, Written
from curation.releases.export.export_source import ExportSource

_LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*")
_SIZES = ((1e3, "n<1K"), (1e4, "1K<n<10K"), (1e5, "10K<n<100K"), (1e6, "100K<n<1M"), (1e7, "1M<n<10M"))


def write_readme(folder: Path, source: ExportSource, format: ExportFormat, written: Written) -> None:
    """Write the front matter, the data-set card, and the rules for evaluation figures."""
    import yaml

    queries = Counter(source.query_parts.values())
    text = load_template(__package__, "readme.md").render(
        matter=yaml.safe_dump(make_front_matter(source, written), sort_keys=False, allow_unicode=True),
        card=write_card(source.release, source.request.licence),
        parts=[(part, queries[part], number) for part, number in source.relevant_query_counts.items()],
        above_lowest=source.min_relevant,
        reading=format.reading if source.drawn_by_stratum else "",
        evidence="evidence" in source.extra_columns,
    )
    (folder / "README.md").write_text(text, encoding="utf-8", newline="\n")


def make_front_matter(source: ExportSource, written: Written) -> dict[str, Any]:
    """Return the machine-readable front matter of the data-set card."""
    licence = source.request.licence
    row = source.release.row
    licence_fields: dict[str, Any] = {"license": licence}
    if not _LICENCE.fullmatch(licence):
        licence_fields = {"license": "other", "license_name": licence}
    return {
        **licence_fields,
        "pretty_name": row.name,
        "task_categories": ["text-retrieval"],
        "tags": ["goldgrade", f"release-{row.release_id[:12]}"],
        "size_categories": [_find_size_category(len(source.release.versions))],
        "configs": [
            {
                "config_name": config,
                "description": f"release {row.release_id}",  # the cache of `datasets` has it as a key
                **written.loading,
                "data_files": [{"split": split, "path": path} for split, path in splits.items()],
            }
            for config, splits in sorted(written.configs.items())
        ],
    }


def _find_size_category(documents: int) -> str:
    return next((name for limit, name in _SIZES if documents < limit), "n>10M")
