// Keys of a page of plain Streamlit: a held key acts once, and a field gets the keyboard when it is its turn.
// Streamlit's shortcuts fire again for every repeat of a held key, on whatever the page shows by then.

let held = null;
let reason = "";

const typing = (target) => target instanceof HTMLElement && target.matches("input, textarea, [contenteditable]");

function down(event) {
  if (event.key === "Escape" && typing(event.target)) event.target.blur();
  if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!event.repeat) held = typing(event.target) ? null : event.key;
  else if (held === event.key) {
    event.preventDefault(); // also once the field that the key opened has the keyboard
    event.stopImmediatePropagation();
  }
}

function up() {
  held = null;
}

export default ({ data }) => {
  window.removeEventListener("keydown", window.goldsetKeyDown, true);
  window.removeEventListener("keyup", window.goldsetKeyUp, true);
  Object.assign(window, { goldsetKeyDown: down, goldsetKeyUp: up });
  window.addEventListener("keydown", down, true);
  window.addEventListener("keyup", up, true);
  if (data.reason && data.reason !== reason) {
    const field = document.querySelector(`.st-key-${data.focus} textarea`);
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
  }
  reason = data.reason;
};
