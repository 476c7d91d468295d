// Work and rest: how long somebody has worked without a break, and how much today and in this session. It stays in
// this browser, and the hint is never on screen while an item is half answered (see the style sheet).

const WORK = 50 * 60_000; // ms of work after which a break is suggested
const BREAK = 5 * 60_000; // ms without work that are a break
const SESSION = 30 * 60_000; // ms without work after which another session begins
const LONGEST = 10 * 60_000; // ms on one item that count as work

export class Rest {
  constructor(root, memory) {
    Object.assign(this, { root, memory, day: "" });
    this.kept = { work: 0, last: 0, began: Date.now(), ...memory.get("work") };
    if (Date.now() - this.kept.last > SESSION) this.kept.began = Date.now();
    this.counts = [0, 0];
  }

  // An answer after so many ms on its item; `worth` is how many more are answered.
  worked(active, worth) {
    const now = Date.now();
    const away = now - this.kept.last - active;
    const work = (away > BREAK ? 0 : this.kept.work) + Math.min(active, LONGEST);
    this.kept = { work, last: now, began: away > SESSION ? now - active : this.kept.began };
    this.memory.set("work", this.kept);
    this.add(worth);
  }

  add(worth) {
    this.counts = this.counts.map((count) => Math.max(0, count + worth));
  }

  // Since when answers of today and of this session count.
  get since() {
    return [new Date(new Date().setHours(0, 0, 0, 0)), new Date(this.kept.began)].map((moment) => moment.toISOString());
  }

  get today() {
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
    const [today, session] = this.counts;
    return `Answered today: ${today}. In this session: ${session}. Work since your last break: ${Math.floor(this.kept.work / 60_000)} min.`;
  }
}
