// Work and rest: how long somebody has worked without a break, and how much today and in this session. It stays in
// this browser, and the hint is never on screen while an item is half answered (see the style sheet).

import { thousands } from "../annotating/dom.js";

const WORK = 50 * 60_000; // ms of work after which a break is suggested
const BREAK = 5 * 60_000; // ms without work that are a break
const SESSION = 30 * 60_000; // ms without work after which another session begins
const LONGEST = 10 * 60_000; // ms on one item that count as work

export class Rest {
  constructor(root, memory) {
    Object.assign(this, { root, memory, day: midnight(), counts: [0, 0] });
    this.kept = { work: 0, last: 0, began: Date.now(), ...memory.get("work") };
    this.#renew();
  }

  // An answer after so many ms on its item; `worth` is how many more are answered.
  worked(active, worth) {
    const now = Date.now();
    const away = now - this.kept.last - active;
    const work = (away > BREAK ? 0 : this.kept.work) + Math.min(active, LONGEST);
    this.#renew(now - active);
    this.kept = { work, last: now, began: this.kept.began };
    this.memory.set("work", this.kept);
    this.add(worth);
  }

  // Midnight begins another day, and work after a long break another session: nothing counts in them yet.
  #renew(at = Date.now()) {
    const day = midnight();
    if (day !== this.day) [this.day, this.counts[0]] = [day, 0];
    if (at - this.kept.last > SESSION) [this.kept.began, this.counts[1]] = [at, 0];
  }

  add(worth) {
    this.counts = this.counts.map((count) => Math.max(0, count + worth));
  }

  // Since when answers of today and of this session count.
  get since() {
    this.#renew();
    return [this.day, this.kept.began].map((moment) => new Date(moment).toISOString());
  }

  get today() {
    this.#renew();
    return this.counts[0];
  }

  get suggests() {
    return this.memory.get("rest") !== false;
  }

  set suggests(on) {
    this.memory.set("rest", on);
    if (!on) this.hint(false);
  }

  // Whether it is time for a break.
  get due() {
    return this.suggests && this.kept.work >= WORK && Date.now() - this.kept.last < BREAK;
  }

  hint(shown) {
    this.root.querySelector(".rest").hidden = !shown;
    this.root.toggleAttribute("data-rest", shown);
  }

  // Not now: the minutes count from here.
  dismiss() {
    this.kept = { ...this.kept, work: 0 };
    this.memory.set("work", this.kept);
    this.hint(false);
  }

  get sentence() {
    this.#renew();
    const [today, session] = this.counts.map(thousands);
    return `Answered today: ${today}. In this session: ${session}. Work since your last break: ${Math.floor(this.kept.work / 60_000)} min.`;
  }
}

function midnight() {
  return new Date().setHours(0, 0, 0, 0);
}
