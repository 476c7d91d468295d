// The annotator's own answers: a list that the arrow keys walk through, each line a way back to its item.

import { chip, isolated, node, plain } from "./dom.js";

// An answer in a line. `given` is the grade as the guide has it under which it was given, null where that is not known;
// its key is today's.
export function said(guide, { kind, grade, given, reason, otherwise = "Cannot tell" }) {
  if (kind === null) return node("span", {}); // withheld
  if (kind !== "grade") return node("span", { className: "chip", title: reason ?? "" }, otherwise);
  const today = guide.grade(grade);
  const found = given === undefined ? today : given && { ...given, key: today?.key ?? given.key };
  return found ? chip(found) : node("span", { className: "chip" }, String(grade));
}

export class History {
  constructor(root, guide, chosen) {
    Object.assign(this, { root, guide, chosen });
  }

  wait(sentence) {
    this.#list.replaceChildren();
    this.#say(sentence);
  }

  show(answered, none = "You have not answered anything yet.") {
    this.#say(answered.length ? "" : none);
    this.#list.replaceChildren(...answered.map((one) => node("li", {}, this.#line(one))));
  }

  focus() {
    this.#lines[0]?.focus();
  }

  // From a field back to the list, or to the part itself where nothing is listed.
  leaveField() {
    this.root.getRootNode().activeElement?.blur();
    this.focus();
  }

  // Move through the list; true where the key was for it.
  press(key) {
    const lines = this.#lines;
    const at = lines.indexOf(this.root.getRootNode().activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), Home: 0, End: lines.length - 1 }[key];
    if (to === undefined || !lines.length) return false;
    lines[Math.min(to, lines.length - 1)].focus();
    return true;
  }

  #line(answered) {
    const { showing, note, flagged, changed, words, kind, reason } = answered;
    const line = node("button", { type: "button", className: "line" },
      node("span", { className: "words" },
        node("span", { className: "sought", dir: "auto" }, showing.query),
        node("span", { className: "name", dir: "auto" }, plain(showing.title) || "Untitled document"),
        ...(words ? [node("span", { className: "name", dir: "auto" }, `“${isolated(words)}”`)] : []),
        ...(kind === "cannot_tell" && reason ? [node("span", { className: "name" }, reason)] : [])),
      ...(changed ? [node("span", { className: "noted" }, "changed")] : []),
      ...(flagged ? [node("span", { className: "noted" }, "flag")] : []),
      ...(note ? [node("span", { className: "noted", title: note }, "note")] : []),
      said(this.guide, answered));
    line.addEventListener("click", () => this.chosen(answered));
    return line;
  }

  #say(sentence) {
    const box = this.root.querySelector(".history .why");
    box.textContent = sentence;
    box.hidden = !sentence;
  }

  get #list() {
    return this.root.querySelector(".history ol");
  }

  get #lines() {
    return [...this.root.querySelectorAll(".history .line")];
  }
}
