"""What people read of an upload that the server refused: the answer, and the page, which knows its status."""

from __future__ import annotations

BROKEN_OFF = "This upload broke off: nothing more of it came. Send it again."
NO_LENGTH = "This upload does not say how long it is."
OF_ONE_FULL = "You have as many uploads open as one person may. Close other tabs or remove files."
OF_ALL_FULL = "The server has as many uploads in memory as it may. Try again in some minutes."

SENTENCES = {408: BROKEN_OFF, 411: NO_LENGTH, 413: OF_ONE_FULL, 503: OF_ALL_FULL}
"""By status."""
