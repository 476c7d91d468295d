"""Settings: the page on which leads change how the whole project works, such as its labeling guide."""

from __future__ import annotations

from app import ui
from app.app_page import LEADS, SETTINGS, AppPage
from app.page_context import read_context
from app.views.settings import backup, guide, notices
from curation.operations.backup_schedule import JOB_KIND
from curation.store import Annotator

PARTS = {"Guide": guide.show, "Backup": backup.show, "Notices": notices.show}


def show(annotator: Annotator) -> None:
    context = read_context(annotator, [JOB_KIND])
    PARTS[ui.choose_part("Settings", PARTS, "part")](context)


PAGE = AppPage(52, "Settings", "settings", LEADS, show, menu=SETTINGS)
