// The outbox: answers that are not yet committed.
//
// Each answer has a name of its own in the browser's storage, so that tabs do not overwrite each other's and a
// reload loses none. It has a key of its own, so it may be sent several times and is written once. One
// request is under way at a time, which keeps an undo behind its grade.

import { ask, Refusal } from "./server.js";

export const MOST_UNSENT = 5; // answers not yet committed, then the loop pauses
const BACKOFF = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

export class Outbox {
  // `routes` says, by name, where a kind of answer goes: { path, body(answers) → what is posted }.
  constructor(memory, routes, { answered, changed }) {
    Object.assign(this, { memory, routes, answered, changed });
    // What an earlier version of this page left behind was judgments only, and did not say so.
    this.waiting = memory.all("answer:").map((kept) => ({ to: "judgments", worth: 0, ...kept })).sort((a, b) => a.made - b.made);
    this.failures = 0;
    this.retryAt = 0;
    this.committed = false; // whether this page has had anything committed
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

  // Keep an answer until it is committed; `worth` is 1 for a new answer, -1 for one that is taken back, else 0.
  add(to, answer, worth) {
    const made = performance.timeOrigin + performance.now();
    const item = { ...answer, client_key: uniqueKey() };
    const kept = { made, to, worth, item };
    this.waiting.push(kept);
    this.memory.set(`answer:${item.client_key}`, kept);
    this.changed();
    if (!this.failures) this.send();
  }

  async send() {
    clearTimeout(this.timer);
    if (this.busy || !this.waiting.length) return;
    this.busy = true;
    const { to, batch } = this.#batch();
    try {
      const { path, body } = this.routes[to];
      this.#settle(to, await ask(path, body(batch)));
    } catch (error) {
      if (error instanceof Refusal) this.#refused(to, batch, error.message);
      else this.#failed();
    } finally {
      this.busy = false;
    }
    this.changed();
    if (!this.failures) this.send();
  }

  // The oldest answers that have the same route.
  #batch() {
    const { to } = this.waiting[0];
    const end = this.waiting.findIndex((kept) => kept.to !== to);
    const run = this.waiting.slice(0, end < 0 ? undefined : end).map(({ item }) => item);
    return { to, batch: run.slice(0, this.single ? 1 : 20) };
  }

  #settle(to, answer) {
    this.failures = 0;
    this.single = false;
    this.committed ||= answer.outcomes.some(({ status }) => status === "saved" || status === "repeated");
    this.#forget(answer.outcomes.map(({ client_key }) => client_key));
    this.answered(to, answer);
  }

  // The request as a whole was refused: find the answer that cannot be taken, and do not let it block the rest.
  #refused(to, batch, message) {
    if (batch.length > 1) this.single = true;
    else this.#settle(to, { outcomes: [{ ...batch[0], status: "refused", message }] });
  }

  #failed() {
    const wait = BACKOFF[Math.min(this.failures++, BACKOFF.length - 1)];
    this.retryAt = Date.now() + wait;
    this.timer = setTimeout(() => this.send(), wait);
  }

  #forget(keys) {
    this.waiting = this.waiting.filter(({ item }) => !keys.includes(item.client_key));
    for (const key of keys) this.memory.remove(`answer:${key}`);
  }
}

function uniqueKey() {
  const random = crypto.getRandomValues(new Uint32Array(4));
  return crypto.randomUUID?.() ?? Array.from(random, (part) => part.toString(16).padStart(8, "0")).join("");
}
