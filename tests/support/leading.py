"""A lead's tab in a browser: going from page to page, filling in forms, giving files."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.support.served import PASSWORD, settled, until

UNFOLDED = "() => [...document.querySelectorAll('details')].every((one) => !one.getAnimations().length)"


class Leading:
    """A lead's tab, which goes from page to page by the menus and links of the app."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.page: Page = browser.new_context().new_page()
        # nothing scrolls: a list of options closes when its page does
        self.page.set_viewport_size({"width": 1440, "height": 1600})
        self.page.emulate_media(reduced_motion="reduce")
        self.page.goto(address)

    def sign_in(self) -> None:
        self.page.get_by_label("Name").fill("lead")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()

    def choose_password(self) -> None:
        """Where a link to join leads: choose a password, and be signed in."""
        self.page.get_by_label("Password, at least").fill(PASSWORD)
        self.page.get_by_label("Password, once more").fill(PASSWORD)
        self.page.get_by_role("button", name="Save and sign in").click()

    def invite(self, name: str) -> str:
        """The link by which an annotator of that name joins."""
        self.fill("Names", name)
        self.press("Invite", f"{name} is invited as annotator.")
        return self.page.get_by_test_id("stCode").first.inner_text().strip()

    def to(self, menu: str, name: str) -> None:
        """Open a page by its menu."""
        self.page.get_by_test_id("stTopNav").get_by_role("button", name=menu).click()
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        expect(self.page).to_have_title(f"{name} · goldgrade")
        settled(self.page)

    def choose(self, name: str) -> None:
        """Choose a step, a stage or a kind of file."""
        self.page.get_by_role("radio", name=name, exact=True).click()
        settled(self.page)

    def unfold(self, heading: str) -> None:
        """Open what is folded, and wait until it is: until then what is in it moves away under a click."""
        self.page.get_by_text(heading).click()
        until(self.page, UNFOLDED)

    def press(self, name: str, then: str) -> None:
        """Press a button of a page that is whole; what follows says so."""
        settled(self.page)
        self.page.get_by_role("button", name=name, exact=True).click()
        expect(self.page.get_by_text(then).first).to_be_visible()
        settled(self.page)

    def follow(self, name: str) -> None:
        """Go on where the page offers it, by a link or by a button."""
        link = self.page.get_by_role("link", name=name, exact=True)
        link.or_(self.page.get_by_role("button", name=name, exact=True)).click()

    def fill(self, label: str, value: str) -> None:
        field = self.page.get_by_label(label, exact=True)
        expect(field).to_have_count(1)  # the field of the step before may still be there
        field.fill(value)
        field.press("Tab")

    def pick(self, label: str, option: str) -> None:
        self.page.get_by_role("combobox", name=label).click()
        self.page.get_by_role("option", name=option, exact=True).click()
        settled(self.page)

    def give(self, kind: str, file: Path) -> None:
        """Give a file of a kind where the page asks for that, and see its first rows."""
        asks = re.compile(f"{kind}: (.*JSON|a zip)")
        uploader = self.page.get_by_test_id("stFileUploader").filter(has_text=asks)
        uploader.locator("input[type=file]").set_input_files(file)
        expect(self.page.get_by_text(re.compile(r"The first \d+ rows"))).to_be_visible()
        settled(self.page)

    def drop(self, folder: Path) -> None:
        """Drop a folder as from a window of files, where Streamlit asks for files."""
        box = self.page.get_by_test_id("stFileUploaderDropzone").last.bounding_box()
        assert box is not None
        devtools = self.page.context.new_cdp_session(self.page)
        data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "data": data}
        for kind in ("dragEnter", "dragOver", "drop"):
            devtools.send("Input.dispatchDragEvent", {"type": kind, **place})

    def bring(self, then: str) -> None:
        """Import the file: a dry run first, then what it said."""
        run, bring = (
            self.page.get_by_role("button", name=name, exact=True) for name in ("Check the file", "Import")
        )
        run.click()
        expect(bring).to_be_enabled()
        bring.click()
        expect(self.page.get_by_text(then).first).to_be_visible()
        settled(self.page)
