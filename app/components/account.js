import { sendFolder } from "./folder.js";
import { go, Palette } from "./palette.js";

// The second click of a double click asks for nothing more; something else may be under the pointer by then.
// Steppers of numbers are no such buttons.
function once(event) {
  const button = event.target.closest?.(".stButton button, .stFormSubmitButton button");
  if (!button || event.detail < 2) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

// In narrow windows the pages are in a drawer over the page. Streamlit leaves it open, and its list has other
// things than list items in it, which screen readers stumble over.
const DRAWER = '[data-testid="stSidebar"]';
const OPENS = '[data-testid="stExpandSidebarButton"]';

function drawer() {
  const found = document.querySelector(`${DRAWER}[data-collapsed="false"]`);
  return window.innerWidth <= 768 ? found : null;
}

function tidy() {
  document.querySelectorAll(`${DRAWER} nav :is(ul, li)`).forEach((one) => one.setAttribute("role", "none"));
  document.querySelector(OPENS)?.setAttribute("aria-label", "Pages");
}

function leave(event) {
  setTimeout(tidy);
  const open = drawer();
  const chosen = event.target.closest?.('[data-testid="stSidebarNavLink"]');
  if (!open || !(event.key === "Escape" || (event.type === "click" && (chosen || !open.contains(event.target))))) return;
  setTimeout(() => {
    open.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
    setTimeout(() => document.querySelector(OPENS)?.focus(), 50);
  });
}

// Of an upload that failed Streamlit has an error of its program, which only screen readers read out. Both they
// and the style sheet (`--gs-why`) get a sentence: the server's where it refused the file.
const BROKEN = "The upload failed: the connection broke, or the file is too large. Choose the file again.";
let refusals = {}; // by status

const broken = new MutationObserver(() => {
  for (const alert of document.querySelectorAll('.stFileUploader [role="alert"]')) {
    const said = alert.textContent;
    const failed = said.includes("AxiosError");
    const sentence = failed ? refusals[/status code (\d+)/.exec(said)?.[1]] ?? BROKEN : said.replace(/^Error: /, "");
    if (failed) alert.childNodes.forEach((part, place) => { part.data = place ? "" : sentence; });
    alert.closest(".stFileUploader").style.setProperty("--gs-why", `"${sentence.replace(/["\\\n]/g, " ")}"`);
  }
});

function watch({ target }) {
  const uploader = target.closest?.(".stFileUploader");
  if (uploader) broken.observe(uploader, { childList: true, subtree: true, characterData: true });
}

// A link to another page of the app goes there in the same session, as Streamlit's own do; with a key of the
// browser's it opens a new tab.
function follow(event) {
  const link = event.composedPath().find((one) => one.matches?.("a.gs-page"));
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
}

export default function account({ data, parentElement }) {
  window.removeEventListener("click", window.goldgradeOnce, true);
  window.goldgradeOnce = once;
  window.addEventListener("click", once, true);
  const upload = (event) => { watch(event); sendFolder(event, data.documents); };
  for (const kind of ["change", "drop"]) {
    window.removeEventListener(kind, window.goldgradeUpload, true);
    window.addEventListener(kind, upload, true);
  }
  window.goldgradeUpload = upload;
  for (const kind of ["click", "keydown"]) {
    window.removeEventListener(kind, window.goldgradeLeave, true);
    window.addEventListener(kind, leave, true);
  }
  window.goldgradeLeave = leave;
  window.removeEventListener("click", window.goldgradeFollow);
  window.addEventListener("click", follow);
  window.goldgradeFollow = follow;
  const palette = (parentElement.goldgradePalette ??= new Palette(parentElement));
  Object.assign(palette, { pages: data.pages, searches: data.searches });
  window.removeEventListener("keydown", window.goldgradeFind, true);
  window.goldgradeFind = (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    palette.open();
  };
  window.addEventListener("keydown", window.goldgradeFind, true);
  parentElement.querySelector(".find").onclick = () => palette.open();
  setTimeout(tidy);
  refusals = data.refusals;
  window.goldgradeDrawn?.();
  parentElement.querySelector(".who").textContent = data.role === "annotator" || data.role === data.name ? data.name : `${data.name}, ${data.role}`;
  parentElement.querySelector(".out").onclick = () => {
    // A form, not a fetch: where an identity provider signed somebody in, the way out leads over its pages.
    const form = document.createElement("form");
    form.method = "post";
    form.action = "/sign-out";
    document.body.append(form);
    form.submit();
  };
}
