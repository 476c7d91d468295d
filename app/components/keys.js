// Keys of a page of plain Streamlit: a held key acts once, a field gets the focus in time, a draft survives a reload.
// Streamlit's shortcuts fire again for every repeat of a held key, on what the page shows by then.

let held = null;
let reason = "";
let page = { focus: "", draft: null, sent: "" };

const LONGEST_WAIT = 5_000; // ms
const fieldIn = (container) => document.querySelector(`.st-key-${container} textarea`);

const typing = (target) => target instanceof HTMLElement && target.matches("input, textarea, [contenteditable]");

function down(event) {
  if (event.key === "Escape" && typing(event.target)) event.target.blur();
  if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!event.repeat) held = typing(event.target) ? null : event.key;
  else if (held === event.key) swallow(event); // also once the field that the key opened has the keyboard
}

function swallow(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function up() {
  held = null;
}

// Storage that is full or forbidden keeps nothing, and nothing here depends on it.
const draftField = () => page.draft && document.querySelector(`.st-key-${page.draft.field} textarea`);

function keep(event) {
  if (!page.draft || event.target !== draftField()) return;
  const { value } = event.target;
  try {
    if (value) localStorage.setItem(page.draft.name, value);
    else localStorage.removeItem(page.draft.name);
  } catch { /* not kept */ }
}

// What was typed before a reload comes back into a field that nobody has touched, once the field is there.
function restore(until = performance.now() + LONGEST_WAIT) {
  let kept = null;
  try {
    if (page.sent) localStorage.removeItem(page.sent);
    kept = page.draft && localStorage.getItem(page.draft.name);
  } catch { /* nothing was kept */ }
  if (!kept) return;
  const field = draftField();
  if (field !== null && field.value === kept) return;
  if (field === null || field.value !== page.draft.shown) { // not there yet, or not filled yet
    if (performance.now() < until) setTimeout(restore, 50, until);
    return;
  }
  field.setRangeText(kept, 0, field.value.length, "end");
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

export default ({ data }) => {
  window.removeEventListener("keydown", window.goldgradeKeyDown, true);
  window.removeEventListener("keyup", window.goldgradeKeyUp, true);
  window.removeEventListener("input", window.goldgradeKeep, true);
  Object.assign(window, { goldgradeKeyDown: down, goldgradeKeyUp: up, goldgradeKeep: keep });
  window.addEventListener("keydown", down, true);
  window.addEventListener("keyup", up, true);
  window.addEventListener("input", keep, true);
  page = data;
  restore();
  if (data.reason && data.reason !== reason) fieldIn(data.focus)?.focus();
  reason = data.reason;
};
