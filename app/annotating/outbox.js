// The outbox: answers that are not yet committed.
//
// Each answer has a name of its own in the browser's storage, so that tabs do not overwrite each other's and a
// reload loses none. It has a key of its own, so it may be sent several times and is written once. One
// request is under way at a time, which keeps an undo behind its grade.
//
// An answer is forgotten only when the server names its key and says what became of it. All other answers to a
// request are failures: they may be a proxy's, so everything is kept and sent again.

import { nameOf } from "./dom.js";
import { ask, bytes, Failure, pause } from "./server.js";

export const MOST_UNSENT = 5; // answers not yet committed, then the loop pauses
const MOST_SENT = 20; // answers in one request
const MOST_BYTES = 32 * 1024; // of them, so that a request may outlive the page
const FINAL = ["saved", "repeated", "stale", "refused"];

export class Outbox {
  // `routes` says, by name, where a kind of answer goes: { path, body(answers) → what is posted }.
  constructor(memory, routes, { answered, changed }) {
    Object.assign(this, { memory, routes, answered, changed });
    // What an earlier version of this page left behind was judgments only, and did not say so.
    this.waiting = memory.all("answer:").map((kept) => ({ to: "judgments", worth: 0, ...kept })).sort((a, b) => a.made - b.made);
    this.most = MOST_SENT;
    this.failures = 0;
    this.problem = ""; // what the last failure says
    this.retryAt = 0;
    this.committed = false; // whether this page has had anything committed
    this.stored = true; // whether all that waits would survive the page
  }

  get paused() {
    return this.waiting.length >= MOST_UNSENT;
  }

  // The waiting judgments, as they are sent.
  get judgments() {
    return this.waiting.filter(({ to }) => to === "judgments").map(({ item }) => item);
  }

  // How many more items will count as answered once all is committed.
  get worth() {
    return this.waiting.reduce((sum, { worth }) => sum + worth, 0);
  }

  // How many more items will be skipped once all is committed.
  get skipped() {
    return this.waiting.reduce((sum, { later = 0 }) => sum + later, 0);
  }

  // Keep an answer until it is committed; `worth` is 1 for a new answer, -1 for one that is taken back, else 0;
  // `later` is 1 where it skips an item, -1 where it answers one that was skipped, else 0.
  add(to, answer, worth, later = 0) {
    const made = performance.timeOrigin + performance.now();
    const item = { ...answer, client_key: uniqueKey() };
    const kept = { made, to, worth, later, item };
    this.waiting.push(kept);
    this.stored = this.memory.set(`answer:${item.client_key}`, kept) && this.stored;
    this.changed();
    if (!this.failures) this.send();
  }

  async send() {
    clearTimeout(this.timer);
    if (this.busy || !this.waiting.length) return;
    this.busy = true;
    const { to, batch } = this.#batch();
    let answer;
    try {
      const { path, body } = this.routes[to];
      answer = final(await ask(path, body(batch)), batch);
      this.#settle(answer);
    } catch (error) {
      this.#failed(batch, error);
    }
    this.busy = false;
    if (answer) this.answered(to, answer, batch);
    this.changed();
    if (!this.failures) this.send();
  }

  // The oldest answers that have the same route, no more than one request may hold.
  #batch() {
    const [{ to }] = this.waiting;
    const batch = [];
    let size = 0;
    for (const kept of this.waiting.slice(0, this.most)) {
      size += bytes(JSON.stringify(kept.item));
      if (kept.to !== to || (batch.length && size > MOST_BYTES)) break;
      batch.push(kept.item);
    }
    return { to, batch };
  }

  #settle({ outcomes }) {
    this.failures = 0;
    this.most = Math.min(MOST_SENT, this.most * 2);
    this.committed ||= outcomes.some(({ status }) => status === "saved" || status === "repeated");
    this.#forget(outcomes.map(({ client_key }) => client_key));
  }

  // Fewer answers next time: perhaps the request was too large, or one of them does not get through.
  #failed(batch, failure) {
    this.most = Math.max(1, Math.floor(batch.length / 2));
    if (batch.length === 1 && failure.status) this.#postpone(batch[0]);
    this.problem = failure.message;
    const wait = pause(++this.failures, failure);
    this.retryAt = Date.now() + wait;
    this.timer = setTimeout(() => this.send(), wait);
  }

  // The others first; what was done with one item stays in its order.
  #postpone(postponed) {
    const same = ({ item }) => nameOf(item) === nameOf(postponed);
    this.waiting = [...this.waiting.filter((kept) => !same(kept)), ...this.waiting.filter(same)];
  }

  #forget(keys) {
    this.waiting = this.waiting.filter(({ item }) => !keys.includes(item.client_key));
    for (const key of keys) this.memory.remove(`answer:${key}`);
    this.stored ||= !this.waiting.length;
  }
}

// The server's answer, with only what it says of answers that were sent; a failure where it says nothing of them.
function final(answer, batch) {
  const sent = new Set(batch.map(({ client_key }) => client_key));
  const found = Array.isArray(answer?.outcomes) ? answer.outcomes : [];
  const outcomes = found.filter((one) => sent.has(one?.client_key) && FINAL.includes(one.status));
  if (!outcomes.length) throw new Failure("Something other than goldgrade answered. Your network may ask you to sign in", { status: 200 });
  return { ...answer, outcomes };
}

function uniqueKey() {
  const random = crypto.getRandomValues(new Uint32Array(4));
  return crypto.randomUUID?.() ?? Array.from(random, (part) => part.toString(16).padStart(8, "0")).join("");
}
