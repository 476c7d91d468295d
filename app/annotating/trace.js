// The trace of what was done last, next to the next query: one line, so that a slip is seen while it is still
// one key away from being taken back.

import { chip, node } from "./dom.js";

export class Trace {
  constructor(root) {
    this.root = root;
  }

  // `grade` is one of the scale, if one was given; `words` what was done otherwise; `about` the document.
  show({ grade, words = "", about = "" }) {
    const said = grade ? chip(grade) : node("span", {}, words);
    this.#box.replaceChildren(node("span", { className: "before" }, "Last: "), said,
      ...(about ? [node("span", { className: "name", dir: "auto" }, about)] : []));
    this.#box.hidden = false;
  }

  clear() {
    this.#box.hidden = true;
    this.#box.replaceChildren();
  }

  get #box() {
    return this.root.querySelector(".trace");
  }
}
