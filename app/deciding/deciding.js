// The deciding loop: the next disputed pair is on screen before the last decision has left the machine.
//
// It is the grading loop's sister: the page holds the next few pairs, Enter paints the next one at once and puts
// the decision into the outbox. A decision is a grade and a reason: the grade's key chooses it and gives the
// keyboard to the reason. Nothing here decides who may do what; the server does, and says so of each action.
//
//   loading → item, nothing          item → item, history, nothing          history → item

import { isolated, plain, put, thousands } from "../annotating/dom.js";
import { Guide } from "../annotating/guide.js";
import { History } from "../annotating/history.js";
import { Loop, mounted } from "../annotating/loop.js";
import { Memory } from "../annotating/memory.js";
import { Outbox } from "../annotating/outbox.js";
import { ask } from "../annotating/server.js";
import { Context } from "./context.js";
import { Case, isUnderAnother } from "./case.js";

const UPCOMING = 8; // pairs held
const FEW = 4; // so few, and more are asked for, unless there were none
const MOST_NAMED = 500; // pairs that a request may name as held
const WINDOW = 1360; // px of window from which on the guide is open at first
const KEYS = { x: "none", l: "later", r: "opinion", f: "unclear", n: "note", e: "evidence", c: "compare", t: "comment", u: "undo", w: "whole", h: "history", g: "guide", "?": "keys" };

export default mounted((root, { project, reviewer }) => (
  new Deciding(root, new Memory(`goldset-deciding:${project}:${reviewer}`), reviewer)));

class Deciding extends Loop {
  nouns = { items: "The disputed pairs", answers: "decisions" };
  shownAs = "pair";
  tools = {
    guide: () => this.guide.toggle(),
    keys: () => this.keys.show(),
    undo: () => this.#undo(),
    history: () => this.#openHistory(),
    again: () => this.#lookAgain(),
    dismiss: () => this.#dismiss(),
    whole: () => this.on("item") && this.item.toggleWhole(),
    none: () => this.#pick(null),
    later: () => this.#postpone(),
    opinion: () => this.#opinion(),
    unclear: () => this.ready && this.#unclear(this.root.querySelector(".unclear").hidden),
    note: () => this.on("item") && this.item.openNote(),
    evidence: () => this.on("item") && this.item.evidence.toggle(),
    marked: () => this.item.evidence.press("Enter", () => this.#decide()),
    compare: () => this.on("item") && this.context.compare(),
    apart: () => this.context.close(),
    comment: () => this.on("item") && this.context.field.focus(),
    decide: () => this.#decide(),
    leave: () => this.on("item") && this.leaveChange(),
  };

  constructor(root, memory, reviewer) {
    super(root, memory);
    this.reviewer = reviewer;
    this.later = []; // pairs that were skipped
    this.counts = { done: 0, left: 0, claimed: 0, waiting: 0 };
    this.counted = false; // whether the server has said how many there are
    this.guide = new Guide(root, memory, (grade) => this.#pick(grade), WINDOW);
    this.item = new Case(root, this.status, memory, this.guide, () => this.on("item"), this.ending.signal);
    this.context = new Context(root, this.guide, memory, this.status, this.ending.signal);
    this.history = new History(root, this.guide, (line) => this.#change(line.showing));
    this.outbox = new Outbox(memory, {
      decisions: { path: "/api/decisions", body: submissions },
    }, {
      answered: (to, answer, batch) => this.#answered(answer, batch),
      changed: () => this.changed(),
    });
    this.listen({
      press: (key, digit) => this.#press(key, digit),
      step: (key) => this.on("item") && this.item.evidence.step(key),
      escape: (typing) => this.#escape(typing),
      send: () => this.#send(),
      closeKeys: (key) => key === "?" && this.keys.close(),
    }, () => root.querySelector(".found"));
    this.#start();
  }

  async #start() {
    await this.outbox.send(); // what an earlier page left comes first, so that it is not shown again
    await this.fetch();
  }

  // ── What comes next ──

  request() {
    const named = this.#holding().map((id) => `&holding=${encodeURIComponent(id)}`).join("");
    const [unsent, acts] = [this.outbox.waiting.length, this.acts];
    const take = (queue) => {
      this.#take(queue, !unsent && acts === this.acts);
      this.dry = !queue.cases.length;
      this.exhausted = this.dry;
      if (!this.dry || this.queue.length || !this.later.length) return;
      this.later = []; // all were skipped: they come again
      this.dry = false;
    };
    return { path: `/api/disputes/next?limit=${UPCOMING}${named}`, take };
  }

  // The server may have counted before it had what was done meanwhile: then our own count, which has it, remains.
  #take(queue, current) {
    const known = new Set(this.#holding());
    this.queue.push(...queue.cases.filter(({ pair_id: id }) => !known.has(id)));
    if (this.counted && !current) return;
    this.counted = true;
    const { disputed, claimed, waiting } = queue;
    Object.assign(this.counts, { left: Math.max(0, disputed - this.outbox.worth), claimed, waiting });
  }

  // What need not be sent again: pairs that the page has, that it decided without the server knowing, or skipped.
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
    if (this.on("item")) this.context.show(this.queue[0]); // what was decided and said is there now
    if (!this.on("item", "history")) this.next();
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
    this.status.notice(`Not saved: ${sentence(message)}`);
    if (item.kind === "comment") this.context.giveBack(item);
    if (item.kind === "unclear" || !showing) return;
    const draft = item.kind === "decide" ? { note: item.words, flagged: false, picked: item.grade, active: 0 } : undefined;
    this.queue = this.queue.filter(({ pair_id: id }) => id !== showing.pair_id);
    this.queue.splice(this.on("item") ? 1 : 0, 0, { ...showing, draft });
    if (item.kind === "opinion") this.counts.waiting -= 1;
    this.counts.left += 1;
    this.next();
  }

  // The action did not happen; returns what was on screen when it was done.
  #forgetPast({ pair_id: id, kind }) {
    const found = this.past.find((one) => one.showing.pair_id === id && one.kind === kind);
    this.past = this.past.filter((one) => one !== found);
    if (found && kind === "decide") this.counts.done -= 1;
    if (found) this.trace.clear();
    return found?.showing;
  }

  beforeItem() {
    return false;
  }

  paint(showing) {
    if (this.on("item") && this.item.is(showing)) this.showState();
    else this.#bringOn(showing);
    // Not with a decision, which would wait for it; and after a failure the timer asks again.
    if (this.queue.length <= FEW && !this.exhausted && !this.unreachable) this.fetch();
  }

  #bringOn(showing) {
    const said = this.item.paint(showing);
    this.#unclear(false);
    const changing = showing.changing ? "You already decided this pair. Your decision counts until you decide again." : "";
    put(this.root.querySelector(".changing span"), changing);
    this.root.querySelector(".changing").hidden = !changing;
    this.root.querySelector('[data-do="opinion"]').disabled = Boolean(showing.decision);
    this.root.querySelector('[data-do="later"]').disabled = Boolean(showing.changing);
    this.root.dataset.pair = showing.pair_id;
    this.context.show(showing);
    this.phase("item");
    this.item.settle();
    const opinions = showing.opinions.length;
    this.status.announce(`${said}Document: ${isolated(this.item.name)}. ${opinions} ${opinions === 1 ? "opinion" : "opinions"}.`);
  }

  showNothing() {
    const { claimed, waiting } = this.counts;
    const parts = [
      claimed ? `Pairs that other reviewers are deciding now: ${thousands(claimed)}.` : "",
      waiting ? `Pairs sent back for one more opinion: ${thousands(waiting)}.` : "",
    ].filter(Boolean);
    this.root.querySelector(".nothing h1").textContent = parts.length ? "No pair waits for you" : "No pair is disputed";
    this.root.querySelector(".nothing .why").textContent =
      `${parts.join(" ") || "A pair appears here when annotators disagree."} This page refreshes by itself.`;
    this.phase("nothing");
    this.lookLater();
  }

  // ── What a reviewer does ──

  // Also before the pair has been on screen long enough to be decided: else the letters of the reason, which follow
  // at once, would be taken for keys, and r would send the pair back.
  #pick(picked) {
    if (!this.on("item") || this.undoing || this.keys.covered) return;
    this.#unclear(false);
    this.item.pick(picked);
    this.item.field.focus();
  }

  #decide() {
    const { picked, note } = this.item.draft;
    if (!this.ready) return picked !== undefined && note && this.#notYet();
    if (picked === undefined) {
      this.item.closeNote(); // so that the next key chooses
      return this.status.notice("Choose a grade, or press x if the pair gets no grade. Then press Enter.");
    }
    if (!note) {
      this.item.field.focus();
      return this.status.notice("Enter a reason: one sentence, stored with the decision.");
    }
    if (this.item.evidence.holds(picked)) return this.toKeys();
    const [showing] = this.queue;
    const { revision, content_hash } = showing;
    const marks = this.item.evidence.of(picked);
    this.#leave(showing, "decide", { picked, note, ...marks }, { grade: picked, words: note, revision, content_hash, ...marks });
  }

  // A slow network or a slow machine: without a word, a reviewer would wait for a pair that waits for them.
  #notYet() {
    const wait = this.outbox.paused ? "Your last decisions are still being saved." : "This pair has just appeared.";
    this.status.notice(`${wait} Press Enter again to decide this pair.`);
  }

  // Go on to the next pair, and send what was done with this one.
  #leave(showing, kind, done, more) {
    const { pair_id, query_id, document_id, decision } = showing;
    const worth = decision && !decision.outdated ? 0 : 1; // whether it was disputed until now
    this.item.forget(showing);
    this.queue.shift();
    this.remember({ showing, kind, ...done });
    this.countAct();
    this.counts.left = Math.max(0, this.counts.left - worth);
    if (kind === "decide") this.counts.done += 1;
    else this.counts.waiting += 1;
    this.outbox.add("decisions", { pair_id, query_id, document_id, kind, ...more }, worth);
    this.trace.show({
      grade: this.guide.grade(done.picked), about: plain(showing.title),
      words: kind === "opinion" ? "Sent back for one more opinion" : "No grade",
    });
    this.toKeys();
    this.next();
  }

  #opinion() {
    const [showing] = this.queue;
    if (this.ready && !showing.decision) this.#leave(showing, "opinion", {}, {});
  }

  #postpone() {
    if (!this.ready || this.queue[0].changing) return;
    const showing = { ...this.queue.shift(), draft: this.item.draft };
    this.later = [...this.later.filter((id) => id !== showing.pair_id), showing.pair_id];
    this.remember({ showing, kind: "later" });
    this.dry = false;
    this.trace.show({ words: "Skipped. The pair comes back after the others", about: plain(showing.title) });
    this.toKeys();
    this.next();
  }

  // The last decision comes back, to be made once more; what was skipped comes back as it was.
  async #undo() {
    if (this.outbox.paused || this.keys.covered || this.undoing || !this.on("item", "nothing", "loading")) return;
    const place = this.past.findLastIndex(({ kind }) => kind !== "opinion"); // that cannot be taken back
    if (place < 0) return this.#undoEarlier();
    const [{ showing, kind, picked, note, evidence }] = this.past.splice(place, 1);
    if (kind === "later") {
      this.later = this.later.filter((id) => id !== showing.pair_id);
      return this.#bring(showing);
    }
    const decision = { grade: picked, reason: note, evidence, reviewer: this.reviewer, outdated: false, guide_hash: showing.guide_hash };
    this.#bring(again({ ...showing, decision, revision: showing.revision + 1 }));
  }

  async #undoEarlier() {
    const last = await this.askLast("/api/decisions/recent");
    if (last) this.#bring(again(last));
  }

  // Put a pair before all others; the one on screen stays as it was left.
  #bring(showing) {
    this.keepDraft();
    this.putFirst(showing);
    this.trace.clear();
    this.toKeys();
    this.next();
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
      this.status.notice(`That pair cannot be loaded now. ${error.message}`);
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
    this.toKeys();
  }

  // For other reviewers; the pair still waits for a decision.
  #comment() {
    if (!this.ready) return;
    const words = this.context.take();
    const { pair_id, query_id, document_id } = this.queue[0];
    if (words) this.outbox.add("decisions", { pair_id, query_id, document_id, kind: "comment", words }, 0);
    this.toKeys();
  }

  // ── History ──

  #openHistory() {
    if (this.on("history")) return this.closeHistory();
    if (!this.on("item", "nothing")) return;
    this.keepDraft();
    this.readPhase("history", "Your last decisions.");
    this.fillHistory();
  }

  async readHistory() {
    const found = await ask("/api/decisions/recent");
    if (found.length && !this.guide.hash) await this.readGuide(found[0].guide_hash);
    const lines = found.map((showing) => ({
      showing, kind: showing.decision.grade === null ? "none" : "grade", grade: showing.decision.grade,
      words: showing.decision.reason, otherwise: "No grade", given: isUnderAnother(showing) ? null : undefined,
    }));
    return [lines, "You have not decided anything yet."];
  }

  #change(showing) {
    if (!this.on("history") || !this.sight.seen || this.outbox.waiting.length) return;
    this.phase("loading");
    this.#bring(again(showing));
  }

  showState() {
    const { done, left, waiting } = this.counts;
    const count = [
      left || done ? `${thousands(left)} disputed` : "",
      waiting ? `${thousands(waiting)} waiting for an opinion` : "",
    ].filter(Boolean).join("  ·  ");
    this.status.show({ done, total: done + left, answers_last_hour: 0, median_seconds: null, count }, this.outbox);
  }

  listKeys() {
    this.keys.fill(this.guide.scale, [["Enter", "Decide, in the reason"], ["Esc", "Leave the reason"],
      ["c", "Show a decided document beside this one; again: the next decided one"], ["t", "Comment for reviewers and leads"]]);
  }

  // ── Keys and pointer ──

  #send() {
    const field = this.root.getRootNode().activeElement;
    if (field === this.question) this.#ask();
    else if (field === this.context.field) this.#comment();
    else this.#decide();
  }

  #press(pressed, digit) {
    if (this.on("history")) return this.history.press(pressed) || this.#tool(pressed);
    if (this.on("item")) {
      if (this.item.evidence.press(pressed, () => this.#decide())) return true;
      const grade = this.guide.keys.get(pressed) ?? (KEYS[pressed] ? undefined : this.guide.keys.get(digit));
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
    if (KEYS[pressed]) this.use(KEYS[pressed]);
    return Boolean(KEYS[pressed]);
  }

  #escape(typing) {
    if (this.keys.open) return; // the dialog closes itself
    if (typing) {
      this.#unclear(false);
      this.context.field.blur();
      this.item.closeNote();
      this.toKeys();
    } else if (this.on("history")) this.closeHistory();
    else if (this.on("item") && this.context.comparing) this.context.close();
    else if (!this.root.querySelector(".overtaken").hidden) this.#dismiss();
    else if (this.on("item") && this.queue[0].changing) this.leaveChange();
  }
}

// What is posted: the server knows a pair by its query and document.
function submissions(batch) {
  return { submissions: batch.map(({ pair_id, ...submission }) => submission) };
}

// A decided pair as it comes back: with what was decided, which counts until it is decided once more.
function again(showing) {
  const { grade, reason, evidence } = showing.decision;
  return { ...showing, was: grade ?? undefined, changing: true, draft: { note: reason, flagged: false, picked: grade, evidence, active: 0 } };
}

function sentence(words) {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
