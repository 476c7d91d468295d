// What the two loops share: a queue that is filled before it is empty, a guide that comes before its items, and a
// screen that is in one phase at a time, each with its own keys.
//
// A loop of its own kind (grading, deciding) extends it and says
//   nouns                what is fetched and what was done: { items, answers }
//   shownAs              the attribute of the root that names what is on screen
//   tools                what a key or button does, by name
//   request()            { path, take(queue) } of the request that fills the queue
//   beforeItem()         show what comes before the next item, if anything; true where there was something
//   paint(showing)       bring an item on screen
//   showNothing()        say that there is nothing to do
//   showState()          say how far the work is
//   listKeys()           fill the list of keys, once a guide is there
//   readHistory(filling) [lines, words where there are none]

import { nameOf } from "./dom.js";
import { KeyList } from "./keylist.js";
import { Keyboard } from "./keyboard.js";
import { ask, pause } from "./server.js";
import { Sight } from "./sight.js";
import { Status } from "./status.js";
import { Trace } from "./trace.js";

const LOOK_AGAIN = 30_000; // ms, on an empty queue
const MOST_PAST = 50; // of what was done on this page

// A component's function: one loop on its element, until Streamlit takes it away.
export function mounted(make) {
  return ({ data, parentElement }) => {
    const root = parentElement.querySelector(".grading");
    root.loop ??= make(root, data);
    return () => {
      root.loop?.leave();
      root.loop = undefined;
    };
  };
}

export class Loop {
  constructor(root, memory) {
    Object.assign(this, { root, memory });
    this.queue = [];
    this.past = []; // what was done on this page, newest last
    this.acts = 0; // what was done on this page, sent or not
    this.unreachable = 0; // how often in a row the queue could not be fetched
    this.ending = new AbortController();
    this.status = new Status(root);
    this.keys = new KeyList(root, this.ending.signal);
    this.trace = new Trace(root);
    this.sight = new Sight(); // of what is no item
  }

  leave() {
    this.ending.abort();
    this.status.leave();
    clearTimeout(this.outbox.timer);
    clearTimeout(this.looking);
  }

  // ── The queue ──

  // The item on screen stays if it is still the next.
  async fetch() {
    if (this.fetching || this.ending.signal.aborted) return;
    this.fetching = true;
    try {
      const { path, take } = this.request();
      const queue = await ask(path);
      this.unreachable = 0;
      this.status.unreachable("");
      take(queue);
    } catch (error) {
      this.unreachable += 1;
      this.status.unreachable(`${this.nouns.items} cannot be loaded now. ${error.message} Trying again…`);
      clearTimeout(this.looking);
      this.looking = setTimeout(() => this.fetch(), pause(this.unreachable, error));
    } finally {
      this.fetching = false;
    }
    this.next();
  }

  // Bring on screen what comes next.
  next() {
    if (this.on("history")) return;
    const [showing] = this.queue;
    const wanted = (this.card?.showing ?? showing)?.guide_hash;
    if (wanted && wanted !== this.guide.hash) this.#loadGuide(wanted);
    else if (this.beforeItem()) return;
    else if (showing) this.paint(showing);
    else {
      this.item.clear();
      if (this.dry && !this.outbox.waiting.length) this.showNothing();
      else this.phase("loading");
      if (!this.dry && !this.outbox.waiting.length && !this.unreachable) this.fetch();
    }
  }

  // While there is nothing: something may come.
  lookLater() {
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.on("nothing") && this.fetch(), LOOK_AGAIN);
  }

  // Put an item before all others.
  putFirst(showing) {
    this.queue = [showing, ...this.queue.filter((held) => nameOf(held) !== nameOf(showing))];
  }

  countAct() {
    this.acts += 1;
    this.dry = false;
  }

  // Remember what was done, to take it back; of one item only what was done last.
  remember(done) {
    this.past = [...this.others(done.showing), done].slice(-MOST_PAST);
  }

  // What was done with other items.
  others(item) {
    return this.past.filter(({ showing }) => nameOf(showing) !== nameOf(item));
  }

  // The item on screen will be painted again as it was left.
  keepDraft() {
    const [showing] = this.queue;
    if (!this.on("item") || !showing) return;
    if (showing.changing) this.queue.shift();
    else this.queue[0] = { ...showing, draft: this.item.draft };
  }

  // Leave the earlier answer as it is, and go back to where one was.
  leaveChange() {
    this.item.forget(this.queue.shift());
    this.toKeys();
    this.next();
  }

  // What the server has as the last that was done: after a reload the page remembers nothing.
  async askLast(path) {
    if (this.outbox.waiting.length) return undefined;
    this.undoing = true;
    try {
      const last = await ask(path);
      if (!last) this.status.notice("There is nothing to undo.");
      return last;
    } catch (error) {
      this.status.notice(`Your last answer cannot be loaded now. ${error.message}`);
      return undefined;
    } finally {
      this.undoing = false;
    }
  }

  // ── History ──

  // Only what is committed can be changed, so the list waits for what is on its way.
  async fillHistory(focus = true) {
    const { answers } = this.nouns;
    if (this.outbox.waiting.length) return this.history.wait(`Waiting for your last ${answers} to be saved…`);
    const filling = this.filling = {}; // what is asked for later replaces it
    if (focus || !this.listed) this.history.wait(`Loading your ${answers}…`);
    try {
      const [lines, none] = await this.readHistory(filling);
      if (this.filling !== filling || !this.on("history")) return;
      this.history.show(lines, none);
      if (focus) this.history.focus();
    } catch (error) {
      if (this.filling === filling) this.history.wait(`Your ${answers} cannot be loaded now. ${error.message} Press Esc to go back.`);
    } finally {
      if (this.filling === filling) this.filling = undefined;
    }
  }

  get listed() {
    return Boolean(this.root.querySelector(".history .line"));
  }

  closeHistory() {
    if (!this.on("history")) return;
    this.phase("loading"); // until the next line paints
    this.next();
  }

  // The outbox has more or less in it.
  changed() {
    this.showState();
    if (this.on("history") && !this.outbox.waiting.length && !this.filling && !this.listed) this.fillHistory();
  }

  // ── The guide ──

  async readGuide(hash) {
    await this.guide.load(hash);
    this.item.evidence.ask(this.guide.read.evidence);
    this.listKeys();
  }

  async #loadGuide(hash) {
    if (this.loadingGuide) return;
    this.loadingGuide = true;
    this.phase("loading"); // nothing is answered under another scale
    try {
      await this.readGuide(hash);
    } catch (error) {
      this.status.notice(`The guide cannot be loaded now. ${error.message} Trying again…`);
      await new Promise((after) => { setTimeout(after, pause(4, error)); });
    } finally {
      this.loadingGuide = false;
    }
    if (!this.ending.signal.aborted) this.next();
  }

  // ── Phases ──

  on(...phases) {
    return phases.includes(this.root.dataset.phase);
  }

  phase(phase) {
    this.root.dataset.phase = phase;
    for (const part of this.root.querySelectorAll("[data-phases]")) part.hidden = !part.dataset.phases.split(" ").includes(phase);
    if (phase !== "item") delete this.root.dataset[this.shownAs];
    this.showState();
  }

  // A phase that is read before it is answered; `said` is what a screen reader says.
  readPhase(phase, said = "") {
    this.phase(phase);
    this.sight.begin();
    this.toKeys(); // not on an element that is hidden now
    this.root.querySelector(`.${phase}`).scrollIntoView({ block: "nearest" });
    if (said) this.status.announce(said);
  }

  // Whether a phase has been on screen long enough to be answered.
  seen(phase) {
    return this.on(phase) && this.sight.seen && !this.keys.covered;
  }

  get ready() {
    return this.on("item") && this.item.sight.seen && !this.undoing && !this.outbox.paused && !this.keys.covered;
  }

  // ── Keys and pointer ──

  // `uses` are those of the keyboard that only one kind of loop has; `scrolled` is the box that keys scroll.
  listen(uses, scrolled) {
    const { signal } = this.ending;
    this.keyboard = new Keyboard({
      covered: () => this.keys.covered,
      // In a small window it is the page that scrolls.
      scrolls: () => [scrolled(), document.querySelector('[data-testid="stMain"]')],
      ...uses,
    }, signal);
    addEventListener("pagehide", () => this.outbox.send(), { signal });
    addEventListener("online", () => this.outbox.send(), { signal });
    addEventListener("beforeunload", (event) => this.outbox.stored || event.preventDefault(), { signal });
    this.root.addEventListener("click", (event) => {
      const name = event.target.closest?.("[data-do]")?.dataset.do;
      if (name) this.use(name);
    }, { signal });
  }

  // The keyboard leaves the fields: keys are keys again.
  toKeys() {
    this.root.querySelector(".stage").focus({ preventScroll: true });
  }

  use(name) {
    this.tools[name]?.();
  }
}
