"""Which Chromium the browser tests drive; also asked by `.ci/browser`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def find_chromium() -> str | None:
    """$CHROMIUM, an installed Chromium or Chrome, else Playwright's own; None where nothing is installed."""
    installed = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), str(MAC)]
    found = next((path for path in installed if path and Path(path).is_file()), None)
    return found or _playwrights_own()


def _playwrights_own() -> str | None:
    """Asked last: it starts Playwright's own process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
        return path if Path(path).is_file() else None


if __name__ == "__main__":
    found = find_chromium()
    print(found or "")
    raise SystemExit(found is None)
