"""Words that would be markup, scripts or another writing direction, and whether a page kept them words."""

from __future__ import annotations

from playwright.sync_api import ConsoleMessage, Request

from tests.support.served import DRAWN, Visitors

CANARY = "canary.invalid"
START, END = "STARTHERE", "ENDSHERE"
MARKUP = (
    f"<script>window.ran = 1</script><img src=//{CANARY}/i onerror=window.ran=1><b>bold</b>"
    f"<iframe src=//{CANARY}/f></iframe><svg onload=window.ran=1></svg><style>@import '//{CANARY}/s'</style>"
    f"![image](https://{CANARY}/m.png) [link](javascript:window.ran=1) <a href=//{CANARY}>a</a> "
    "$\\frac{1}{2}$ :red[red] `code` **strong** :material/home: {{7*7}} </script></style></textarea>"
)
OVERRIDE = "\u202edesrever\u2067"
WORDS = f"{START} before \x00 after {MARKUP} {OVERRIDE} {END}"

LOOK = """
() => {
  const found = [];
  const roots = [document];
  for (const root of roots) {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) roots.push(element.shadowRoot);
      const target = `${element.getAttribute("src") ?? ""}${element.getAttribute("href") ?? ""}`;
      if (/canary\\.invalid|^javascript:/.test(target)) found.push(element.outerHTML.slice(0, 200));
      if (element.matches(".katex, [onerror], [onload]")) found.push(element.outerHTML.slice(0, 200));
    }
  }
  return found;
}
"""
TURNED = """
([start, end]) => {
  const turned = [];
  const inside = (node) => {
    for (let above = node.parentNode; above; above = above.parentNode ?? above.host) {
      if (above.nodeType !== 1) continue;
      const style = getComputedStyle(above);
      if (/isolate|plaintext/.test(style.unicodeBidi)) return above.textContent;
      if (!/^(inline|contents)$/.test(style.display)) return above.textContent;
    }
    return "";
  };
  const look = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.shadowRoot) look(node.shadowRoot);
      if (node.nodeType !== 3 || !node.textContent.includes("\\u202e")) continue;
      if (/^(STYLE|SCRIPT|TEXTAREA|TITLE)$/.test(node.parentNode.tagName)) continue;
      const open = node.textContent.replaceAll(/\\u2068[^\\u2069]*\\u2069/g, ""); // what no isolate holds
      if (!open.includes("\\u202e")) continue;
      const around = inside(node).trim();
      if (!/^(Gulls|gulls|STARTHERE)/.test(around) || !/(ENDSHERE|\\u2026|fly\\.|sea\\.)$/.test(around))
        turned.push(around.replaceAll(/STARTHERE.*?ENDSHERE/gs, "\\u2039words\\u203a").slice(0, 300));
    }
  };
  look(document.body);
  return turned;
}
"""


class Watched:
    """A signed-in tab, the addresses that it asks for elsewhere, and what the policy of its page refused."""

    def __init__(self, people: Visitors, name: str) -> None:
        self.page = people.page(name)
        self.elsewhere: list[str] = []
        self.refused: list[str] = []
        self.page.on("request", self._note)
        self.page.on("console", self._listen)

    def _note(self, request: Request) -> None:
        if CANARY in request.url:
            self.elsewhere.append(request.url)

    def _listen(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self.refused.append(message.text)

    def inert(self) -> None:
        """No word of the project did anything, nor turned the words around it."""
        self.page.evaluate(DRAWN)
        assert self.page.evaluate("window.ran") is None, "a script of a document ran"
        assert self.refused == [], "the page needs what its policy refuses"
        assert self.elsewhere == [], "a document made the browser ask another host"
        elements = self.page.evaluate(LOOK)
        assert elements == [], f"markup of a document became elements: {elements}"
        turned = self.page.evaluate(TURNED, [START, END])
        assert turned == [], f"an override turns words around it: {turned}"
