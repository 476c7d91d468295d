// The deciding loop: the next disputed pair is on screen before the last decision has left the machine.
//
// It is the grading loop's sister: the page holds the next few pairs, Enter paints the next one at once and puts
// the decision into the outbox. A decision is a grade and a reason: the grade's key chooses it and gives the
// keyboard to the reason. Nothing here decides who may do what; the server does, and says so of each action.
//
//   loading → item, nothing          item → item, history, nothing          history → item

import { Case, isUnderAnother } from "./case.js";
import { isolated, plain, put, thousands } from "./dom.js";
import { Guide } from "./guide.js";
import { History } from "./history.js";
import { Keyboard } from "./keyboard.js";
import { KeyList } from "./keylist.js";
import { Memory } from "./memory.js";
import { Outbox } from "./outbox.js";
import { ask, pause } from "./server.js";
import { Sight } from "./sight.js";
import { Status } from "./status.js";
import { Trace } from "./trace.js";

const UPCOMING = 8; // pairs held
const FEW = 4; // so few, and more are asked for, unless there were none
const LOOK_AGAIN = 30_000; // ms, on an empty queue
const MOST_NAMED = 500; // pairs that a request may name as held
const WINDOW = 1360; // px of window from which on the guide is open at first
const ACTS = { x: "none", l: "later", r: "opinion", f: "unclear", n: "note", u: "undo", w: "whole", h: "history", g: "guide", "?": "keys" };

export default function mount({ data, parentElement }) {
  const root = parentElement.querySelector(".grading");
  root.loop ??= new Deciding(root, new Memory(`goldset-deciding:${data.project}:${data.reviewer}`), data.reviewer);
  return () => {
    root.loop?.leave();
    root.loop = undefined;
  };
}

class Deciding {
  constructor(root, memory, reviewer) {
    Object.assign(this, { root, memory, reviewer });
    this.queue = [];
    this.past = []; // what was done on this page, newest last
    this.later = []; // pairs that were put off
    this.counts = { done: 0, left: 0, elsewhere: 0, waiting: 0 };
    this.counted = false; // whether the server has said how many there are
    this.acts = 0; // what was done on this page, sent or not
    this.unreachable = 0; // how often in a row the queue could not be fetched
    this.ending = new AbortController();
    const { signal } = this.ending;
    this.status = new Status(root);
    this.keys = new KeyList(root, signal);
    this.trace = new Trace(root);
    this.guide = new Guide(root, memory, (grade) => this.#pick(grade), WINDOW);
    this.item = new Case(root, this.status, memory, this.guide, signal);
    this.sight = new Sight(); // of what is no pair
    this.history = new History(root, this.guide, (line) => this.#change(line.showing));
    this.outbox = new Outbox(memory, {
      decisions: { path: "/api/decisions", body: submissions },
    }, {
      answered: (to, answer, batch) => this.#answered(answer, batch),
      changed: () => this.#changed(),
    });
    this.#listen(signal);
    this.#start();
  }

  leave() {
    this.ending.abort();
    this.status.leave();
    clearTimeout(this.outbox.timer);
    clearTimeout(this.looking);
  }

  async #start() {
    await this.outbox.send(); // what an earlier page left comes first, so that it is not shown again
    await this.#fetch();
  }

  // ── What comes next ──

  async #fetch() {
    if (this.fetching || this.ending.signal.aborted) return;
    this.fetching = true;
    const named = this.#holding().map((id) => `&holding=${encodeURIComponent(id)}`).join("");
    const [unsent, acts] = [this.outbox.waiting.length, this.acts];
    try {
      const queue = await ask(`/api/disputes/next?limit=${UPCOMING}${named}`);
      this.unreachable = 0;
      this.status.unreachable("");
      this.#take(queue, !unsent && acts === this.acts);
      this.dry = !queue.showings.length;
      this.exhausted = this.dry;
      if (this.dry && !this.queue.length && this.later.length) { // all were put off: they come again
        this.later = [];
        this.dry = false;
      }
    } catch (error) {
      this.unreachable += 1;
      this.status.unreachable(`The disputed pairs cannot be fetched just now. ${error.message} Trying again…`);
      clearTimeout(this.looking);
      this.looking = setTimeout(() => this.#fetch(), pause(this.unreachable, error));
    } finally {
      this.fetching = false;
    }
    if (!this.#on("history")) this.#next();
  }

  // The server may have counted before it had what was done meanwhile: then our own count, which has it, remains.
  #take(queue, current) {
    const known = new Set(this.#holding());
    this.queue.push(...queue.showings.filter(({ pair_id: id }) => !known.has(id)));
    if (this.counted && !current) return;
    this.counted = true;
    const { disputed, elsewhere, waiting } = queue;
    Object.assign(this.counts, { left: Math.max(0, disputed - this.outbox.worth), elsewhere, waiting });
  }

  // What need not be sent again: pairs that the page has, that it decided without the server knowing, or put off.
  #holding() {
    const unsent = this.outbox.waiting.map(({ item }) => item.pair_id);
    const held = [...this.queue.map(({ pair_id: id }) => id), ...unsent, ...this.later];
    return [...new Set(held)].slice(0, MOST_NAMED);
  }

  #answered({ outcomes }, batch) {
    const sent = new Map(batch.map((item) => [item.client_key, item]));
    for (const outcome of outcomes) {
      const item = sent.get(outcome.client_key);
      if (outcome.status === "stale") this.#overtaken(item, outcome.message);
      else if (outcome.status === "refused") this.#refused(item, outcome.message);
    }
    if (!this.#on("item", "history")) this.#next();
  }

  // Somebody else was faster: the page says so and goes on. Nothing was overwritten.
  #overtaken(item, message) {
    this.#forgetPast(item);
    if (item.words) this.item.keep(item, { note: item.words, flagged: false });
    this.missed = item;
    put(this.root.querySelector(".overtaken span"), message);
    this.root.querySelector(".overtaken").hidden = false;
    this.status.announce(message);
  }

  // It comes back after the pair that is on screen now, with what was written.
  #refused(item, message) {
    const showing = this.#forgetPast(item);
    this.status.notice(`Not taken: ${sentence(message)}`);
    if (item.kind === "unclear" || !showing) return;
    const draft = item.kind === "decide" ? { note: item.words, flagged: false, picked: item.grade, active: 0 } : undefined;
    this.queue = this.queue.filter(({ pair_id: id }) => id !== showing.pair_id);
    this.queue.splice(this.#on("item") ? 1 : 0, 0, { ...showing, draft });
    if (item.kind === "opinion") this.counts.waiting -= 1;
    this.counts.left += 1;
    this.#next();
  }

  // The action did not happen; returns what was on screen when it was done.
  #forgetPast({ pair_id: id, kind }) {
    const found = this.past.find((one) => one.showing.pair_id === id && one.kind === kind);
    this.past = this.past.filter((one) => one !== found);
    if (found && kind === "decide") this.counts.done -= 1;
    if (found) this.trace.clear();
    return found?.showing;
  }

  // Bring on screen what comes next.
  #next() {
    if (this.#on("history")) return;
    const [showing] = this.queue;
    if (showing && showing.guide_hash !== this.guide.hash) this.#loadGuide(showing.guide_hash);
    else if (showing) {
      this.#paint(showing);
      // Not with a decision, which would wait for it; and after a failure the timer asks again.
      if (this.queue.length <= FEW && !this.exhausted && !this.unreachable) this.#fetch();
    } else {
      this.item.clear();
      if (this.dry && !this.outbox.waiting.length) this.#showNothing();
      else this.#phase("loading");
      if (!this.dry && !this.outbox.waiting.length && !this.unreachable) this.#fetch();
    }
  }

  #paint(showing) {
    if (this.#on("item") && this.item.is(showing)) return this.#showState();
    const said = this.item.paint(showing);
    this.#unclear(false);
    const changing = showing.changing ? "You decided this pair. That remains until you decide once more." : "";
    put(this.root.querySelector(".changing span"), changing);
    this.root.querySelector(".changing").hidden = !changing;
    this.root.querySelector('[data-do="opinion"]').disabled = Boolean(showing.decision);
    this.root.querySelector('[data-do="later"]').disabled = Boolean(showing.changing);
    this.root.dataset.pair = showing.pair_id;
    this.#phase("item");
    this.item.settle();
    const opinions = showing.opinions.length;
    this.status.announce(`${said}Document: ${isolated(this.item.name)}. ${opinions} ${opinions === 1 ? "opinion" : "opinions"}.`);
  }

  #showNothing() {
    const { elsewhere, waiting } = this.counts;
    const parts = [
      elsewhere ? `With another reviewer just now: ${thousands(elsewhere)}.` : "",
      waiting ? `Sent back, and here again with one more opinion: ${thousands(waiting)}.` : "",
    ].filter(Boolean);
    this.root.querySelector(".nothing h1").textContent = parts.length ? "No pair waits for you" : "No pair is disputed";
    this.root.querySelector(".nothing .why").textContent =
      `${parts.join(" ") || "When annotators disagree on one, it comes here."} This page refreshes by itself.`;
    this.#phase("nothing");
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.#on("nothing") && this.#fetch(), LOOK_AGAIN);
  }

  // ── What a reviewer does ──

  get ready() {
    return this.#on("item") && this.item.sight.seen && !this.outbox.paused && !this.keys.covered;
  }

  #pick(picked) {
    if (!this.ready) return;
    this.#unclear(false);
    this.item.pick(picked);
    this.item.field.focus();
  }

  #decide() {
    if (!this.ready) return;
    const { picked, note } = this.item.draft;
    if (picked === undefined) {
      this.item.closeNote(); // so that the next key chooses
      return this.status.notice("Choose a grade first, or x: no grade can be given. Then Enter decides.");
    }
    if (!note) {
      this.item.field.focus();
      return this.status.notice("A decision needs a reason: one sentence that stays with it.");
    }
    const [showing] = this.queue;
    const { revision, content_hash } = showing;
    this.#leave(showing, "decide", { picked, note }, { grade: picked, words: note, revision, content_hash });
  }

  // Go on to the next pair, and send what was done with this one.
  #leave(showing, kind, done, more) {
    const { pair_id, query_id, document_id, decision } = showing;
    const worth = decision && !decision.outdated ? 0 : 1; // whether it was disputed until now
    this.item.forget(showing);
    this.queue.shift();
    this.past = [...this.past.filter((one) => one.showing.pair_id !== pair_id).slice(-49), { showing, kind, ...done }];
    this.dry = false;
    this.acts += 1;
    this.counts.left = Math.max(0, this.counts.left - worth);
    if (kind === "decide") this.counts.done += 1;
    else this.counts.waiting += 1;
    this.outbox.add("decisions", { pair_id, query_id, document_id, kind, ...more }, worth);
    this.trace.show({
      grade: this.guide.grade(done.picked), about: plain(showing.title),
      words: kind === "opinion" ? "Sent back for one more opinion" : "No grade",
    });
    this.#toKeys();
    this.#next();
  }

  #opinion() {
    const [showing] = this.queue;
    if (this.ready && !showing.decision) this.#leave(showing, "opinion", {}, {});
  }

  #postpone() {
    if (!this.ready || this.queue[0].changing) return;
    const showing = { ...this.queue.shift(), draft: this.item.draft };
    this.later = [...this.later.filter((id) => id !== showing.pair_id), showing.pair_id];
    this.past = [...this.past.slice(-49), { showing, kind: "later" }];
    this.dry = false;
    this.trace.show({ words: "Put off, comes again after the others", about: plain(showing.title) });
    this.#toKeys();
    this.#next();
  }

  // The last decision comes back, to be made once more; what was put off comes back as it was.
  async #undo() {
    if (this.outbox.paused || this.keys.covered || this.undoing || !this.#on("item", "nothing", "loading")) return;
    const place = this.past.findLastIndex(({ kind }) => kind !== "opinion"); // that cannot be taken back
    if (place < 0) return this.#undoEarlier();
    const [{ showing, kind, picked, note }] = this.past.splice(place, 1);
    if (kind === "later") {
      this.later = this.later.filter((id) => id !== showing.pair_id);
      return this.#bring(showing);
    }
    const decision = { grade: picked, reason: note, reviewer: this.reviewer, outdated: false, guide_hash: showing.guide_hash };
    this.#bring(again({ ...showing, decision, revision: showing.revision + 1 }));
  }

  // After a reload the page remembers nothing; the server does.
  async #undoEarlier() {
    if (this.outbox.waiting.length) return;
    this.undoing = true;
    try {
      const [last] = await ask("/api/decisions/recent");
      if (last) this.#bring(again(last));
      else this.status.notice("There is nothing to take back.");
    } catch (error) {
      this.status.notice(`Your last decision cannot be fetched just now. ${error.message}`);
    } finally {
      this.undoing = false;
    }
  }

  // Put a pair before all others; the one on screen stays as it was left.
  #bring(showing) {
    this.#keepDraft();
    this.queue = [showing, ...this.queue.filter(({ pair_id: id }) => id !== showing.pair_id)];
    this.trace.clear();
    this.#toKeys();
    this.#next();
  }

  #keepDraft() {
    const [showing] = this.queue;
    if (!this.#on("item") || !showing) return;
    if (showing.changing) this.queue.shift();
    else this.queue[0] = { ...showing, draft: this.item.draft };
  }

  #leaveChange() {
    this.item.forget(this.queue.shift());
    this.#toKeys();
    this.#next();
  }

  // The pair that somebody else decided first, as it is now.
  async #lookAgain() {
    const { query_id: query, document_id: document } = this.missed ?? {};
    if (!query) return;
    try {
      const showing = await ask(`/api/disputes/one?${new URLSearchParams({ query, document })}`);
      this.#dismiss();
      this.#bring({ ...showing, was: showing.decision?.grade ?? undefined, changing: true });
    } catch (error) {
      this.status.notice(`That pair cannot be fetched just now. ${error.message}`);
    }
  }

  #dismiss() {
    this.missed = undefined;
    this.root.querySelector(".overtaken").hidden = true;
  }

  // ── What the guide leaves open ──

  #unclear(open) {
    const box = this.root.querySelector(".unclear");
    if (!open) this.question.value = "";
    box.hidden = !open;
    this.root.querySelector('[data-do="unclear"]').setAttribute("aria-expanded", open);
    if (open) this.question.focus();
  }

  get question() {
    return this.root.querySelector(".unclear textarea");
  }

  #ask() {
    const words = this.question.value.trim();
    if (!words || !this.ready) return;
    const { pair_id, query_id, document_id } = this.queue[0];
    this.outbox.add("decisions", { pair_id, query_id, document_id, kind: "unclear", words }, 0);
    this.#unclear(false);
    this.trace.show({ words: "Noted for the guide’s next version" });
    this.#toKeys();
  }

  // ── History ──

  #openHistory() {
    if (this.#on("history")) return this.#closeHistory();
    if (!this.#on("item", "nothing")) return;
    this.#keepDraft();
    this.#phase("history");
    this.sight.begin();
    this.#toKeys();
    this.status.announce("Your last decisions.");
    this.#fillHistory();
  }

  // Only what is committed can be changed, so the list waits for what is on its way.
  async #fillHistory() {
    if (this.outbox.waiting.length) return this.history.wait("Waiting until your last decisions are saved…");
    this.filling = true;
    this.history.wait("Fetching your last decisions…");
    try {
      const found = await ask("/api/decisions/recent");
      if (found.length && !this.guide.hash) await this.#readGuide(found[0].guide_hash);
      this.history.show(found.map((showing) => ({
        showing, kind: showing.decision.grade === null ? "none" : "grade", grade: showing.decision.grade,
        words: showing.decision.reason, otherwise: "No grade", given: isUnderAnother(showing) ? null : undefined,
      })), "You have not decided anything yet.");
      if (this.#on("history")) this.history.focus();
    } catch (error) {
      this.history.wait(`Your last decisions cannot be fetched just now. ${error.message} Esc goes back.`);
    } finally {
      this.filling = false;
    }
  }

  #closeHistory() {
    if (!this.#on("history")) return;
    this.#phase("loading"); // until the next line paints
    this.#next();
  }

  #change(showing) {
    if (!this.#on("history") || !this.sight.seen || this.outbox.waiting.length) return;
    this.#phase("loading");
    this.#bring(again(showing));
  }

  // ── Phases ──

  #on(...phases) {
    return phases.includes(this.root.dataset.phase);
  }

  #phase(phase) {
    this.root.dataset.phase = phase;
    for (const part of this.root.querySelectorAll("[data-phases]")) part.hidden = !part.dataset.phases.split(" ").includes(phase);
    if (phase !== "item") delete this.root.dataset.pair;
    this.#showState();
  }

  #changed() {
    this.#showState();
    if (this.#on("history") && !this.outbox.waiting.length && !this.filling && !this.root.querySelector(".history .line")) this.#fillHistory();
  }

  #showState() {
    const { done, left, waiting } = this.counts;
    const count = [
      left || done ? `${thousands(left)} disputed` : "",
      waiting ? `${thousands(waiting)} waiting for an opinion` : "",
    ].filter(Boolean).join("  ·  ");
    this.status.show({ done, total: done + left, hour: 0, seconds_each: null, count }, this.outbox);
  }

  async #readGuide(hash) {
    await this.guide.load(hash);
    this.keys.fill(this.guide.scale, [["Enter", "Decide, in the reason"], ["Esc", "Leave the reason"]]);
  }

  async #loadGuide(hash) {
    if (this.loadingGuide) return;
    this.loadingGuide = true;
    this.#phase("loading"); // nothing is decided under another scale
    try {
      await this.#readGuide(hash);
    } catch (error) {
      this.status.notice(`The guide cannot be fetched just now. ${error.message} Trying again…`);
      await new Promise((after) => { setTimeout(after, pause(4, error)); });
    } finally {
      this.loadingGuide = false;
    }
    if (!this.ending.signal.aborted) this.#next();
  }

  // ── Keys and pointer ──

  #listen(signal) {
    this.keyboard = new Keyboard({
      press: (key, digit) => this.#press(key, digit),
      escape: (typing) => this.#escape(typing),
      send: () => this.#send(),
      covered: () => this.keys.covered,
      closeKeys: (key) => key === "?" && this.keys.close(),
      // In a small window it is the page that scrolls.
      scrolls: () => [this.root.querySelector(".found"), document.querySelector('[data-testid="stMain"]')],
    }, signal);
    addEventListener("pagehide", () => this.outbox.send(), { signal });
    addEventListener("online", () => this.outbox.send(), { signal });
    addEventListener("beforeunload", (event) => this.outbox.stored || event.preventDefault(), { signal });
    this.root.addEventListener("click", (event) => {
      const name = event.target.closest?.("[data-do]")?.dataset.do;
      if (name) this.#do(name);
    }, { signal });
  }

  // The keyboard leaves the fields: keys are keys again.
  #toKeys() {
    this.root.querySelector(".stage").focus({ preventScroll: true });
  }

  #send() {
    if (this.root.getRootNode().activeElement === this.question) this.#ask();
    else this.#decide();
  }

  #press(pressed, digit) {
    if (this.#on("history")) return this.history.press(pressed) || this.#tool(pressed);
    if (this.#on("item")) {
      const grade = this.guide.keys.get(pressed) ?? (ACTS[pressed] ? undefined : this.guide.keys.get(digit));
      if (grade) this.#pick(grade.value);
      if (grade) return true;
      if (pressed === "Enter" && this.item.picked !== undefined) {
        this.#decide();
        return true;
      }
    }
    return this.#tool(pressed);
  }

  #tool(pressed) {
    if (ACTS[pressed]) this.#do(ACTS[pressed]);
    return Boolean(ACTS[pressed]);
  }

  #escape(typing) {
    if (this.keys.open) return; // the dialog closes itself
    if (typing) {
      this.#unclear(false);
      this.item.closeNote();
      this.#toKeys();
    } else if (this.#on("history")) this.#closeHistory();
    else if (!this.root.querySelector(".overtaken").hidden) this.#dismiss();
    else if (this.#on("item") && this.queue[0].changing) this.#leaveChange();
  }

  #do(name) {
    if (name === "guide") this.guide.toggle();
    else if (name === "keys") this.keys.show();
    else if (name === "undo") this.#undo();
    else if (name === "history") this.#openHistory();
    else if (name === "again") this.#lookAgain();
    else if (name === "dismiss") this.#dismiss();
    else if (this.#on("item")) this.#doOnItem(name);
  }

  #doOnItem(name) {
    if (name === "whole") this.item.toggleWhole();
    else if (name === "none") this.#pick(null);
    else if (name === "later") this.#postpone();
    else if (name === "opinion") this.#opinion();
    else if (name === "unclear") this.ready && this.#unclear(this.root.querySelector(".unclear").hidden);
    else if (name === "note") this.item.openNote();
    else if (name === "decide") this.#decide();
    else if (name === "leave") this.#leaveChange();
  }
}

// What is posted: the server knows a pair by its query and document.
function submissions(batch) {
  return { submissions: batch.map(({ pair_id, ...submission }) => submission) };
}

// A decided pair as it comes back: with what was decided, which counts until it is decided once more.
function again(showing) {
  const { grade, reason } = showing.decision;
  return { ...showing, was: grade ?? undefined, changing: true, draft: { note: reason, flagged: false, picked: grade, active: 0 } };
}

function sentence(words) {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
