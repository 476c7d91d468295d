// The keyboard: which presses mean something, and the keys that scroll. A press is passed on once, and never
// while somebody types, holds a key down, or something covers the screen.

import { typing } from "./dom.js";

// How far a key moves the document, given the height that is on screen.
const SCROLL = {
  ArrowDown: () => 60, ArrowUp: () => -60, PageDown: (page) => page * 0.9, PageUp: (page) => page * -0.9,
  Home: () => -Infinity, End: () => Infinity,
};

export class Keyboard {
  // `press(key, digit)` and `escape(typing)` return whether they used it, and so does `step(key)`, where there is one, which
  // takes keys that are held, too; `send()`, where there is one, takes Enter
  // in a field; `closeKeys(key)` is whether the key closed the list of keys; `scrolls()` are the boxes that a key may scroll; `covered()` is whether something covers the screen.
  constructor(uses, signal) {
    this.uses = uses;
    addEventListener("keydown", (event) => this.#down(event), { signal, capture: true });
  }

  #down(event) {
    const target = event.composedPath()[0];
    const { key, repeat, isComposing } = event;
    if (isComposing || event.composedPath().some((one) => one.matches?.("dialog.palette"))) return;
    if (repeat && key === this.held && typing(target)) return taken(event); // it opened this field, and is still held
    if (!repeat) this.held = typing(target) ? null : key;
    if (this.uses.send && typing(target) && key === "Enter" && !event.shiftKey) {
      if (!repeat) this.uses.send();
      return taken(event);
    }
    if (key === "Escape" || (typing(target) && key === "Enter" && (event.ctrlKey || event.metaKey))) {
      if (!repeat) this.uses.escape(typing(target));
      return;
    }
    if (repeat && key !== "Tab" && target.closest?.("button")) event.preventDefault(); // a held Enter would click on and on
    if (event.ctrlKey || event.metaKey || event.altKey || typing(target)) return;
    if (!repeat && this.uses.closeKeys(key)) return taken(event);
    if (this.uses.covered()) return;
    if (!event.shiftKey && this.#scroll(key, target)) return taken(event);
    if (repeat || (target.closest?.("button, a, summary") && (key === "Enter" || key === " "))) return; // it is clicked
    // Where digits need Shift, the key's place on the keyboard tells them.
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
    if (this.uses.press(key.length === 1 ? key.toLowerCase() : key, digit)) taken(event);
  }

  // Keys that scroll move the document, wherever on the page the keyboard is.
  #scroll(key, target) {
    if (!SCROLL[key] || target.closest?.(".guide, .query, .history")) return false; // they scroll by themselves
    if (this.uses.step?.(key)) return true;
    const box = this.uses.scrolls().find((one) => one && one.scrollHeight > one.clientHeight + 4);
    box?.scrollTo({ top: Math.min(box.scrollHeight, Math.max(0, box.scrollTop + SCROLL[key](box.clientHeight))) });
    return Boolean(box);
  }
}

function taken(event) {
  event.preventDefault();
  event.stopPropagation(); // Streamlit listens to single keys too
}
