// Questions about the guide: asked below it, and read in it once the lead has answered. Nothing of it takes room from the
// item: a new answer is a mark on the guide's button and a line at the panel's lower edge.

import { isolated, node, put } from "../annotating/dom.js";
import { ask } from "../annotating/server.js";

const EVERY = 60_000; // ms between two looks for answers
const SENT = "Sent to the lead. The answer will be in this panel.";

export class Asking {
  // `item()` is the id of the item on screen, or undefined; `said(sentence)` is for who hears the screen.
  constructor(root, memory, { item, said }, signal) {
    Object.assign(this, { root, memory, item, said, signal });
    this.box = root.querySelector(".ask");
    this.form = this.box.querySelector("form");
    this.field = this.form.querySelector("textarea");
    this.field.value = memory.get("question") ?? "";
    this.field.addEventListener("input", () => memory.set("question", this.field.value));
    this.form.addEventListener("keydown", (event) => this.#key(event));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    this.box.hidden = false;
    this.looking = setInterval(() => document.hidden || this.look(), EVERY);
    document.addEventListener("visibilitychange", () => document.hidden || this.look(), { signal });
    this.look();
  }

  leave() {
    clearInterval(this.looking);
  }

  // Whether somebody writes a question.
  get writing() {
    return this.root.getRootNode().activeElement === this.field;
  }

  toggle() {
    this.form.hidden = !this.form.hidden;
    this.#opens.setAttribute("aria-expanded", !this.form.hidden);
    this.#opens.hidden = !this.form.hidden;
    put(this.box.querySelector(".sent"), "");
    this.form.querySelector(".of").hidden = !this.item();
    (this.form.hidden ? this.#opens : this.field).focus();
  }

  async look() {
    try {
      this.#show(await ask("/api/questions"));
    } catch { /* the next look may find them */ }
  }

  // Bring the answers on screen; they are old from then on.
  read() {
    this.memory.set("answers", this.answered);
    this.#mark();
    const [panel, part] = [this.root.querySelector(".guide"), this.root.querySelector(".asked-before")];
    const below = part.getBoundingClientRect().top - panel.getBoundingClientRect().top;
    if (panel.scrollHeight > panel.clientHeight + 4) panel.scrollTop += below; // nothing else on the page moves
    else part.scrollIntoView({ block: "nearest" }); // in a small window it is the page that scrolls
    part.focus({ preventScroll: true });
  }

  #show(questions) {
    if (this.signal.aborted) return;
    this.answered = questions.filter(({ answer }) => answer).map(({ question_id: id, revision }) => `${id} ${revision}`);
    const part = this.root.querySelector(".asked-before");
    part.hidden = !questions.length;
    part.querySelector("dl").replaceChildren(...questions.map(answeredQuestion));
    this.#mark();
  }

  #mark() {
    const seen = new Set(this.memory.get("answers") ?? []);
    const fresh = this.answered.filter((one) => !seen.has(one)).length;
    const said = fresh ? `${fresh} new answer${fresh > 1 ? "s" : ""}` : "";
    put(this.box.querySelector(".news"), said);
    const button = this.root.querySelector('.tools [data-do="guide"]');
    button.toggleAttribute("data-news", Boolean(fresh));
    button.title = fresh ? `${said} to questions about the guide` : "";
    if (fresh > (this.fresh ?? 0)) this.said(`${said} to questions about the guide.`);
    this.fresh = fresh;
  }

  #key(event) {
    if (event.target !== this.field) return;
    if (event.key === "Escape") this.toggle();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#send();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  async #send() {
    const words = this.field.value.trim();
    if (!words || this.sending) return this.field.focus();
    const here = this.form.querySelector(".of input").checked ? this.item() : undefined;
    this.sending = true;
    try {
      this.#show(await ask("/api/questions", { words, ...(here && { presentation_id: here }) }));
      this.field.value = "";
      this.memory.remove("question");
      this.toggle();
      put(this.box.querySelector(".sent"), SENT);
    } catch (error) {
      put(this.box.querySelector(".sent"), `Not sent yet. Your text is kept. ${error.message}`);
    } finally {
      this.sending = false;
    }
  }

  get #opens() {
    return this.box.querySelector('[data-do="ask"]');
  }
}

function answeredQuestion({ words, answer, mine, query }) {
  const of = mine ? `You asked${query ? ` at “${isolated(query)}”` : ""}` : "";
  return node("div", {},
    node("dt", { dir: "auto" }, node("bdi", {}, words), ...(of ? [node("span", { className: "of" }, of)] : [])),
    node("dd", { dir: "auto", className: answer ? "" : "awaited" }, answer ?? "Not answered yet."));
}
