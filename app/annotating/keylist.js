// The list of keys, and whether it or anything else covers the screen.

import { node } from "./dom.js";

export class KeyList {
  constructor(root, signal) {
    this.root = root;
    this.dialog.addEventListener("click", ({ target, currentTarget }) => {
      if (target === currentTarget) currentTarget.close();
    }, { signal });
  }

  get dialog() {
    return this.root.querySelector(".keys");
  }

  get open() {
    return Boolean(this.root.querySelector("dialog[open]"));
  }

  show() {
    this.dialog.showModal();
  }

  // Whether there was something to close.
  close() {
    const { open } = this.dialog; // of all dialogs only this one
    if (open) this.dialog.close();
    return open;
  }

  // The keys of the grades, others, and those of the tools on screen; `whole` is that of the whole document.
  fill(scale, others, whole = "w") {
    const tools = Array.from(this.root.querySelectorAll(".tools .tool:not([hidden])"), (tool) => [
      tool.querySelector("kbd").textContent, tool.lastChild.textContent.trim()]);
    const rows = [...scale.map((grade) => [grade.key, grade.name]), ...others, [whole, "Whole document, and back"],
      ["↑ ↓", "Scroll the document"], ...tools];
    this.root.querySelector(".keys dl").replaceChildren(...rows.map(([key, name]) =>
      node("div", {}, node("dt", {}, node("kbd", {}, key)), node("dd", {}, name))));
  }

  // Our list, a dialog of Streamlit's, or another tab.
  get covered() {
    const others = Array.from(document.querySelectorAll('[role="dialog"]'));
    return this.open || document.hidden || others.some((dialog) => dialog.checkVisibility());
  }
}
