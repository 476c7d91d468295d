"""What `make site` does besides MkDocs: no script within a page, no link that leads out of the site.

The app lets a page run its own files alone. So each script that the theme writes into a page becomes a file,
known by the hash of its text. Links to other files of the repository become the path as code.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ICON = ROOT / "app" / "front" / "favicon.svg"
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
OUTSIDE = re.compile(r"\[([^]]+)\]\(\.\./([^)\s#]+)[^)]*\)")
REFERENCE = {"architecture.md", "changelog.md", "commands.md"}
_scripts: dict[str, str] = {}


def on_files(files: Any, config: Any) -> Any:
    """The changelog at the root of the repository and the app's icon are files of the site, too."""
    from mkdocs.structure.files import File

    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "changelog.md", content=changelog))
    files.append(File.generated(config, "favicon.svg", content=ICON.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to other files of the repository as text; reference pages come last in the search."""
    if page.file.src_uri in REFERENCE:
        page.meta["search"] = {"boost": 0.3}
    return OUTSIDE.sub(lambda link: f"{link[1]} (`{link[2]}`)", markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """The page with its scripts as files."""
    up = "../" * page.url.count("/")
    return SCRIPT.sub(lambda script: f'<script src="{up}{_file(script[1])}"></script>', output)


def on_post_build(config: Any) -> None:
    """Write the scripts."""
    for name, text in _scripts.items():
        (Path(config["site_dir"]) / name).write_text(text, encoding="utf-8")


def _file(text: str) -> str:
    name = f"assets/javascripts/page-{hashlib.sha256(text.encode()).hexdigest()[:12]}.js"
    _scripts[name] = text
    return name
