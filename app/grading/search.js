// What of the history is listed: words of query or title, a grade or none, marks; and which page of it.

import { keycap, node, thousands } from "../annotating/dom.js";

const TYPED = 250; // ms without a key, then the words are looked for
const MARKS = { changed: "Changed", noted: "With note", flagged: "Flagged" };

export class Search {
  // `asked(focus)` is called when something else is to be listed; `focus` is whether its first line is gone to.
  constructor(root, asked, signal) {
    Object.assign(this, { root, asked });
    this.wanted = {};
    this.given = []; // grades as those guides have them under which answers were given
    this.page = this.pages = 0;
    this.field?.addEventListener("input", () => this.#typed(), { signal });
    this.field?.addEventListener("keydown", (event) => this.#key(event), { signal });
  }

  get field() {
    return this.root.querySelector(".filter input");
  }

  // What is asked for, as the parameters of a request.
  get parameters() {
    const text = this.field.value.trim();
    return new URLSearchParams({ page: this.page, ...(text && { text }), ...this.wanted }).toString();
  }

  get filtered() {
    return Boolean(this.field.value.trim() || Object.keys(this.wanted).length);
  }

  // A button for each grade, for none, and for each mark.
  fill(scale) {
    this.scale = scale;
    const grades = allGrades(scale, this.given).map((grade) => [{ grade: grade.value }, keycap(grade), ` ${grade.names.join(" / ")}`]);
    const answers = [...grades, [{ cannot_tell: true }, "Cannot tell"]];
    const marks = Object.entries(MARKS).map(([name, words]) => [{ [name]: true }, words]);
    this.root.querySelector(".filter .pills").replaceChildren(...[...answers, ...marks].map(([wanted, ...words]) => {
      const button = node("button", { type: "button", className: "tool" }, ...words);
      button.addEventListener("click", () => this.#toggle(wanted));
      button.wanted = wanted;
      return button;
    }));
    this.#press();
  }

  show({ total, page, pages, size, answers, grades, withheld }) {
    Object.assign(this, { page, pages });
    this.#take(grades);
    this.root.querySelector(".filter .pills").hidden = withheld;
    this.root.querySelector(".history .withheld").hidden = !withheld;
    const first = page * size + 1;
    this.root.querySelector(".pages").hidden = pages < 2;
    this.root.querySelector(".pages .which").textContent = `${thousands(first)}–${thousands(first + answers.length - 1)} of ${thousands(total)}`;
    this.root.querySelector('[data-do="newer"]').disabled = page === 0;
    this.root.querySelector('[data-do="older"]').disabled = page >= pages - 1;
  }

  // The buttons are made again only for other grades, so that the one in focus stays.
  #take(given) {
    if (JSON.stringify(given) === JSON.stringify(this.given)) return;
    this.given = given;
    if (this.scale) this.fill(this.scale);
  }

  // Whether the key was for it.
  press(key) {
    if (key === "/") this.field.focus();
    else if (key === "ArrowRight" || key === "PageDown") this.turn(1);
    else if (key === "ArrowLeft" || key === "PageUp") this.turn(-1);
    else return false;
    return true;
  }

  turn(by) {
    const page = Math.min(Math.max(0, this.page + by), this.pages - 1);
    if (page === this.page || page < 0) return;
    this.page = page;
    this.asked(true);
  }

  #typed() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.#ask(), TYPED);
  }

  // From the field the list is one key away.
  #key(event) {
    if (event.key !== "ArrowDown" && (event.key !== "Enter" || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    this.root.querySelector(".history .line")?.focus();
  }

  // An answer is one grade or none, so each of these puts out the other; marks add up.
  #toggle(wanted) {
    const [[name, value]] = Object.entries(wanted);
    const had = this.wanted[name] === value;
    const { grade, cannot_tell, ...marks } = this.wanted;
    if (had) delete this.wanted[name];
    else this.wanted = MARKS[name] ? { ...this.wanted, ...wanted } : { ...marks, ...wanted };
    this.#press();
    this.#ask();
  }

  #press() {
    for (const button of this.root.querySelectorAll(".filter .pills button")) {
      const [[name, value]] = Object.entries(button.wanted);
      button.setAttribute("aria-pressed", this.wanted[name] === value);
    }
  }

  #ask() {
    this.page = 0;
    this.asked(false);
  }
}

// The grades of the guide on screen, and those that only another guide has; by value, with every name that it has had.
function allGrades(scale, given) {
  const grades = new Map(scale.map((grade) => [grade.value, { ...grade, names: [grade.name] }]));
  for (const grade of given) {
    const found = grades.get(grade.value) ?? { ...grade, names: [] };
    if (!found.names.includes(grade.name)) found.names.push(grade.name);
    grades.set(grade.value, found);
  }
  return [...grades.values()].sort((one, other) => one.value - other.value);
}
