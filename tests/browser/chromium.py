"""Which Chromium the browser tests drive; also asked by `.ci/browser`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def find_chromium() -> str | None:
    """$CHROMIUM, an installed Chromium or Chrome, else Playwright's own; None if there is none."""
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), str(MAC), _playwrights_own()]
    return next((path for path in candidates if path and Path(path).is_file()), None)


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path
