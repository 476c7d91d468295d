// The disputed pair on screen: an item with what annotators said of it, what was decided before, and the draft of
// a decision: a grade that is chosen, and its reason.

import { chip, node } from "../annotating/dom.js";
import { Item } from "../annotating/item.js";

const NO_GRADE = "No grade";

export class Case extends Item {
  constructor(root, status, memory, guide, isOn, signal) {
    super(root, status, memory, isOn, signal);
    this.guide = guide;
  }

  get draft() {
    return { ...super.draft, picked: this.picked };
  }

  paint(showing) {
    const said = super.paint(showing);
    this.pick(showing.draft?.picked);
    this.guide.release();
    this.root.querySelector(".eyebrow a").href = `/query?${new URLSearchParams({ id: showing.query_id, document: showing.document_id })}`;
    this.guide.mark(showing.was);
    this.root.querySelector(".opinions").replaceChildren(...showing.opinions.map((opinion, index) => this.#opinion(opinion, index)));
    this.root.querySelector(".remarks").replaceChildren(...showing.remarks.map((remark) => node("p", {}, remark)));
    this.#ruled(showing.decision);
    this.root.querySelector(".said").scrollTop = 0;
    return said;
  }

  // A grade's value, null for no grade, undefined for nothing chosen.
  pick(picked) {
    this.picked = picked;
    this.guide.press(picked);
    this.root.querySelector('[data-do="none"]').setAttribute("aria-pressed", picked === null);
  }

  // Under the letters of the opinions.
  marksOf({ opinions }) {
    return opinions.map(({ evidence, other_text: other }, index) => [letter(index), other ? [] : evidence]);
  }

  // The reason is always on screen.
  showNote() {}

  wholeAt({ query_id: query, document_id: document }) {
    return `/api/disputes/document?${new URLSearchParams({ query, document })}`;
  }

  // A letter names somebody on this pair alone: opinions are in the order of what they say.
  #opinion({ grade, words, other_text: other }, index) {
    return node("li", {},
      node("span", { className: "who", ariaHidden: true }, letter(index)),
      node("div", {}, saidBy(this.guide, grade, "Cannot tell"),
        ...(other ? [node("p", { className: "aside" }, "For a different version of the document")] : []),
        ...(words ? [node("p", { className: "words", dir: "auto" }, words)] : [])));
  }

  #ruled(decision) {
    const box = this.root.querySelector(".ruled");
    box.hidden = !decision;
    if (!decision) return;
    const { grade, reason, reviewer, outdated } = decision;
    const earlier = isUnderAnother(this.showing);
    box.replaceChildren(
      node("h3", {}, "Decided by ", node("bdi", {}, reviewer)),
      earlier ? node("span", { className: "chip" }, grade === null ? NO_GRADE : String(grade)) : saidBy(this.guide, grade, NO_GRADE),
      ...(earlier ? [node("p", { className: "aside" }, "Under an earlier guide")] : []),
      ...(outdated ? [node("p", { className: "aside" }, "For an older text of the document, so it does not count")] : []),
      node("p", { className: "words", dir: "auto" }, reason));
  }
}

function letter(index) {
  return String.fromCharCode(65 + (index % 26));
}

// Whether it was decided under another guide, which may have called the grade otherwise.
export function isUnderAnother({ decision, guide_hash: now }) {
  return Boolean(decision.guide_hash) && decision.guide_hash !== now;
}

function saidBy(guide, grade, otherwise) {
  if (grade === null) return node("span", { className: "chip" }, otherwise);
  const found = guide.grade(grade);
  return found ? chip(found) : node("span", { className: "chip" }, `${grade} (not on the scale)`);
}
