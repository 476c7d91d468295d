// The grading loop: the next item is on screen before the last grade has left the machine.
//
// The page holds the next few items. A key paints the next one at once and puts the answer into the outbox,
// which sends it and keeps it until the server says that it is committed; what the server answers brings the
// items that come next. Between two items there may be a card: the expected grade after a practice answer, or the
// question whether the corpus answers the query. The screen is in one phase at a time, and its keys are those
// of the phase.
//
//   loading  → item, nothing, welcome         item → item, feedback, question, history, nothing
//   welcome  → item                           feedback → item, result       result → item
//   question → item                           history → item (to change an answer, or as it was)
//
// Where a round shows whole queries, the item is among the lines of its list. The last answer of a list does not
// lead on: item → list, and from there to the question, the next list, or back to one of its items.

import { History } from "../annotating/history.js";
import { Item, preload } from "../annotating/item.js";
import { Guide } from "../annotating/guide.js";
import { isolated, node, plain, put, thousands } from "../annotating/dom.js";
import { Loop, mounted } from "../annotating/loop.js";
import { Memory } from "../annotating/memory.js";
import { Outbox } from "../annotating/outbox.js";
import { ask } from "../annotating/server.js";
import { Asking } from "./asking.js";
import { Keymap } from "./keymap.js";
import { List } from "./list.js";
import { Practice } from "./practice.js";
import { Question } from "./question.js";
import { Rest } from "./rest.js";
import { Search } from "./search.js";
import { Settings } from "./settings.js";

const HELD = 6; // upcoming items held
const LOW = 3; // so few, and more are asked for
const MOST_HOLDING = 100; // items that a request may name as held
const REASONS = ["The query is unclear", "The document is broken", "It needs expertise that I lack", "Something else"];

export default mounted((root, { annotator, project, leads }) => {
  root.querySelector(".home").hidden = !leads;
  return new Grading(root, new Memory(`goldset:${project}:${annotator}`));
});

class Grading extends Loop {
  nouns = { items: "Your items", answers: "answers" };
  shownAs = "presentation";

  tools = {
    guide: () => this.guide.toggle(),
    keys: () => this.keys.show(),
    settings: () => this.settings.show(),
    rested: () => this.rest.dismiss(),
    undo: () => this.undo(),
    history: () => this.#openHistory("answers"),
    "skipped": () => (this.state.skipped || this.on("history")) && this.#openHistory("skipped"),
    back: () => this.closeHistory(),
    newer: () => this.search.turn(-1),
    older: () => this.search.turn(1),
    "go-on": () => this.#goOn(),
    skip: () => this.#skip(),
    leave: () => this.#escape(false),
    ask: () => this.asking.toggle(),
    answers: () => this.asking.read(),
    dismiss: () => this.#mode("grades"),
    mark: () => this.on("item", "feedback") && this.item.nextMark(),
    whole: () => this.on("item", "feedback") && this.item.toggleWhole(),
    later: () => this.answer("later"),
    cannot: () => this.on("item") && this.#mode(this.reasoning ? "grades" : "reasons"),
    note: () => this.on("item") && this.item.openNote(),
    flag: () => this.on("item") && this.item.toggleFlag(),
    evidence: () => this.on("item") && this.item.evidence.toggle(),
    marked: () => this.item.evidence.press("Enter", (grade) => this.answer("grade", { grade })),
  };

  constructor(root, memory) {
    super(root, memory);
    this.generation = 0; // how often the queue was emptied and fetched again
    this.state = { done: 0, total: 0, answers_last_hour: 0, median_seconds: null, practice: null, message: "", skipped: 0, paused: false };
    this.card = memory.get("card"); // shown between two items; survives a reload
    const { signal } = this.ending;
    this.item = new Item(root, this.status, memory, () => this.on("item") && !this.reasoning, signal);
    this.guide = new Guide(root, memory, (grade) => this.answer("grade", { grade }));
    this.keymap = new Keymap(root, memory, () => this.guide.given);
    this.guide.draw((grade) => this.keymap.ofGrade(grade));
    this.keymap.show();
    this.rest = new Rest(root, memory);
    this.settings = new Settings(root, memory, this.keymap, this.rest, {
      opened: () => this.#count(),
      keysChanged: () => this.#takeKeys(),
    }, signal);
    this.practice = new Practice(root, this.guide);
    this.question = new Question(root, (answer) => this.#answerQuestion(answer));
    this.history = new History(root, this.guide, (one) => (this.listing === "skipped" ? this.#takeUp(one) : this.#change(one)));
    this.list = new List(root, this.guide, (line) => this.#moveTo(line));
    this.search = new Search(root, (focus) => this.fillHistory(focus), signal);
    this.asking = new Asking(root, memory, {
      item: () => root.dataset.presentation,
      said: (sentence) => this.status.announce(sentence),
    }, signal);
    this.outbox = new Outbox(memory, {
      judgments: { path: "/api/judgments", body: (batch) => this.#posted(batch) },
      answers: { path: "/api/answers", body: (batch) => ({ answers: batch }) },
    }, {
      answered: (to, answer, batch) => this.#answered(to, answer, batch),
      changed: () => this.changed(),
    });
    this.listen({
      press: (key, digit) => this.#press(key, digit),
      step: (key) => (this.on("item") && this.item.evidence.step(key)) || this.#step({ ArrowDown: 1, ArrowUp: -1 }[key]),
      escape: (typing) => this.#escape(typing),
      closeKeys: (key) => key.toLowerCase() === this.keymap.of("keys") && this.keys.close(),
    }, () => (this.on("welcome") ? this.guide.panel : root.querySelector(root.hasAttribute("data-list") ? ".list" : ".found")));
    addEventListener("resize", () => requestAnimationFrame(() => this.#resized()), { signal });
    this.#reasons();
    this.#start();
  }

  leave() {
    super.leave();
    this.asking.leave();
  }

  async #start() {
    await this.outbox.send(); // what an earlier page left comes first, so that it is not shown again
    if (this.card?.kind === "feedback" && !this.card.feedback && !this.#isUnsent(this.card.showing)) this.#setCard(null);
    await this.fetch();
    this.#count();
  }

  // How much was answered today and in this session. Only the newest count is shown, and none that misses an answer.
  async #count() {
    const since = this.rest.since.map((moment) => `since=${encodeURIComponent(moment)}`).join("&");
    const { counts } = this.rest, unsent = this.outbox.worth, asked = this.counting = {};
    try {
      const stored = await ask(`/api/worked?${since}`);
      if (asked !== this.counting) return;
      if (counts !== this.rest.counts || unsent !== this.outbox.worth) return await this.#count();
      this.rest.counts = stored.map((count) => count + unsent);
      this.settings.showWork();
      this.showState();
    } catch { /* the page counts on */ }
  }

  // ── What comes next ──

  request() {
    const { acts } = this;
    const unsent = this.outbox.judgments.slice(0, MOST_HOLDING);
    const holding = unsent.map(({ presentation_id: id }) => `&holding=${encodeURIComponent(id)}`).join("");
    const at = this.card?.showing ?? this.queue[0];
    const take = (queue) => {
      this.list.fill(queue.listing);
      if (acts !== this.acts) return; // what came is older than what was done meanwhile
      this.dry = !queue.showings.length;
      const held = new Map(this.queue.map((showing) => [showing.presentation_id, showing]));
      this.queue = this.queue.filter(({ changing }) => changing);
      this.#take(queue, held);
      const here = this.queue.find((showing) => this.on("item") && this.list.isOpen(showing) && this.item.is(showing));
      if (here) this.putFirst(here);
      const listed = this.list.done.size && this.list.id === this.card?.showing?.list_id;
      if (this.card?.kind === "list" && !listed) this.#setCard(null); // it was left in another tab
    };
    const list = at?.list_id ? at.presentation_id : "";
    return { path: `/api/presentations?limit=${HELD}${holding}&list=${encodeURIComponent(list)}`, take };
  }

  #take(queue, held = new Map()) {
    if (!queue) return;
    const known = new Set(this.#holding([]));
    for (const showing of queue.showings) {
      if (known.has(showing.presentation_id)) continue;
      const { revision, draft } = held.get(showing.presentation_id) ?? {};
      const asks = showing.asks_about_query && !this.#isPostponed(showing.query);
      this.queue.push({ ...showing, asks_about_query: asks, ...(revision === showing.revision && { draft }) });
      preload(showing);
    }
    const { showings, listing, ...state } = queue;
    const { worth, skipped } = this.outbox;
    this.state = { ...state, done: state.done + worth, answers_last_hour: Math.max(0, state.answers_last_hour + worth), skipped: state.skipped + skipped };
    if (state.practice?.passed === null) this.memory.set("practising", true);
  }

  // What need not be sent again: what the page has, and what it has answered without the server knowing.
  #holding(batch) {
    const sent = batch.map(({ client_key }) => client_key);
    const unsent = this.outbox.judgments.filter(({ client_key }) => !sent.includes(client_key));
    return [...this.queue, ...unsent].slice(0, MOST_HOLDING).map(({ presentation_id }) => presentation_id);
  }

  #posted(batch) {
    const explain = this.card?.kind === "feedback" ? [this.card.showing.presentation_id] : [];
    const enough = this.queue.length > LOW || this.queue.some(({ back }) => back);
    const limit = enough ? 0 : HELD - this.queue.length; // 0: the answer brings no items
    this.asked = this.generation;
    return { submissions: batch, holding: this.#holding(batch), limit, explain };
  }

  #isUnsent({ presentation_id: id }) {
    return this.outbox.judgments.some((item) => item.presentation_id === id);
  }

  #answered(to, { outcomes, queue, feedback = [] }, batch) {
    if (this.asked === this.generation) this.#take(queue); // else the request is older than the queue
    this.#explain(feedback);
    const late = outcomes.find(({ status, message }) => status === "saved" && message);
    if (late) this.#late(late);
    const failed = outcomes.filter(({ status }) => status === "stale" || status === "refused");
    if (!failed.length) {
      if (!this.on("item", "history", "welcome")) this.next();
      return;
    }
    const keys = failed.map(({ client_key }) => client_key);
    const answers = batch.filter(({ client_key }) => keys.includes(client_key));
    const ids = answers.map(({ presentation_id }) => presentation_id);
    const refused = failed.find(({ status }) => status === "refused");
    const known = refused?.request ? ` The server's log lists this error as ${refused.request}.` : "";
    this.status.notice(refused
      ? `An answer was not saved: ${refused.message}.${known}`
      : "You answered this item in another tab or window. That answer counts.");
    if (to !== "judgments") return;
    for (const answer of answers) this.item.keep(answer, answer);
    this.list.forget(ids);
    this.past = this.past.filter(({ showing }) => !ids.includes(showing.presentation_id));
    if (ids.includes(this.card?.showing?.presentation_id)) this.#setCard(null);
    this.fetch();
  }

  // The answer is saved, but its round was closed: its other items are gone.
  #late({ message }) {
    this.status.notice(`Your answer is saved: ${message}.`);
    this.fetch();
  }

  // Whether an item of the query was skipped and the server does not know it yet: then another is not its last.
  #isPostponed(query) {
    return this.past.some(({ kind, showing }) => kind === "later" && showing.query === query && this.#isUnsent(showing));
  }

  // A card, the guide for who begins, or the result of practice.
  beforeItem() {
    if (!this.card && this.#listIsAnswered) this.#setCard({ kind: "list", showing: this.list.lines([])[0].showing });
    if (this.card) this.#showCard();
    else if (this.#needsWelcome()) this.readPhase("welcome");
    else if (this.#practicePassed()) this.#showResult();
    else return false;
    return true;
  }

  paint(showing) {
    const turned = this.list.turn(showing.list_id);
    if (turned || showing.list_id || this.root.hasAttribute("data-list")) this.list.draw(showing, this.queue);
    if (turned && this.list.drawn.length < showing.item_count) this.fetch(); // for what is answered
    if (this.on("item") && this.item.is(showing)) return this.showState();
    const said = this.item.paint(showing);
    this.guide.release();
    this.#markEarlier(showing);
    this.#mode("grades");
    this.root.toggleAttribute("data-changing", Boolean(showing.changing));
    this.root.toggleAttribute("data-practice", showing.kind === "practice");
    this.#banner(showing);
    this.root.dataset.presentation = showing.presentation_id;
    const { note, flagged } = this.item.draft;
    const rest = this.rest.due && !note && !flagged && !showing.changing;
    this.rest.hint(rest);
    this.phase("item");
    this.item.settle();
    const { done, total } = this.state;
    this.status.announce(`${thousands(done)} of ${thousands(total)} answered. ${rest ? "Time for a break. " : ""}${said}Document: ${isolated(this.item.name)}.`);
  }

  // Frame what was answered before: a grade, or that none could be given and why.
  #markEarlier({ was, wasReason }) {
    this.guide.mark(was);
    this.root.querySelector('.tools [data-do="cannot"]').toggleAttribute("data-was", Boolean(wasReason));
    this.root.querySelectorAll(".reasons .choices .tool").forEach((button, index) => {
      button.toggleAttribute("data-was", REASONS[index] === wasReason);
    });
  }

  #banner(showing, answered = false) {
    const practice = showing.kind === "practice" && this.state.practice;
    const before = showing.withheld ? ". Your earlier answer stays hidden while you have open items; a new answer replaces the earlier answer and its note." : showing.wasReason ? `: you could not tell. ${showing.wasReason}.` : ".";
    const changing = showing.changing && !showing.list_id ? `You are changing an earlier answer${before}` : "";
    put(this.root.querySelector(".banner span"), practice ? this.practice.banner(practice, answered) : changing);
    this.root.querySelector(".banner").hidden = !practice && !changing;
    this.root.querySelector('[data-do="leave"]').hidden = !changing;
  }

  // Who has answered nothing yet reads the guide first.
  #needsWelcome() {
    if (this.begun || !this.queue.length) return false;
    this.begun = this.state.done > 0 || Boolean(this.memory.get("begun"));
    return !this.begun;
  }

  #begin() {
    this.begun = true;
    this.memory.set("begun", true);
  }

  // Practice was passed in this browser, and the result has not been shown yet.
  #practicePassed() {
    return this.state.practice?.passed === true && this.memory.get("practising");
  }

  #showResult() {
    this.practice.result(this.state.practice);
    this.readPhase("result");
  }

  showNothing() {
    const { done, total, message, practice, paused } = this.state;
    const failed = practice?.passed === false;
    this.root.querySelector(".nothing h1").textContent =
      failed ? "Practice is over" : paused || done < total ? "Nothing to grade just now" : total || this.memory.get("begun") ? "Nothing left to grade" : "Nothing to grade yet";
    this.root.querySelector(".nothing .why").textContent = message || "You have no open items now.";
    this.root.querySelector(".nothing .back").hidden = !(done || paused) || failed;
    this.phase("nothing");
    if (!this.guide.hash) this.readGuide("current").catch(() => {}); // it is tried again with the next look
    this.lookLater(); // a round may open while the page shows this
  }

  // ── Answers ──

  answer(kind, more = {}) {
    if (!this.ready || (kind === "later" && this.queue[0].changing)) return;
    if (kind === "grade" && this.item.evidence.holds(more.grade)) return this.guide.mark(more.grade);
    const evidence = kind === "grade" ? this.item.evidence.of(more.grade) : {};
    const showing = this.queue.shift();
    this.item.forget(showing);
    const { note, flagged, evidence: marks, active: active_ms, shownAt: shown_at } = this.item.draft;
    const { presentation_id, revision, guide_hash, changing } = showing;
    const worth = kind !== "later" && !changing ? 1 : 0;
    const later = Number(kind === "later") - Number(Boolean(showing.skipped));
    if (showing.kind !== "practice") this.remember({ showing, kind, note, flagged, evidence: marks }); // no grade: its repeat may come
    this.countAct();
    this.state.done += worth;
    this.state.answers_last_hour += worth;
    this.state.skipped += later;
    this.rest.worked(active_ms, worth);
    if (showing.kind === "practice") this.#practised(worth);
    else this.#traceOf(showing, kind, more);
    this.list.record(showing, { kind, note, flagged, evidence: marks, ...more });
    this.#cardAfter(showing, kind);
    this.outbox.add("judgments",
      { presentation_id, revision, kind, ...more, ...evidence, ...(note && { note }), flagged, shown_at, active_ms, guide_hash }, worth, later);
    this.next();
  }

  #traceOf(showing, kind, { grade }) {
    const words = kind === "later" ? "Later" : "Cannot tell";
    this.trace.show({ grade: this.guide.grade(grade), words, about: plain(showing.title) });
  }

  // The server is not asked after every answer, so the page counts on.
  #practised(worth) {
    const { practice } = this.state;
    if (practice) this.state.practice = { ...practice, answered: practice.answered + worth };
  }

  async undo() {
    if (this.outbox.paused || this.keys.covered || this.undoing || !this.#undoable) return;
    const last = this.past.pop() ?? (await this.#lastOfAll());
    if (!last) return;
    this.countAct();
    const { showing, kind, note, flagged, evidence } = last;
    this.trace.clear();
    const { presentation_id } = showing;
    showing.list_id ||= this.list.done.get(presentation_id)?.showing.list_id;
    this.list.forget([presentation_id]);
    let { revision } = showing;
    this.queue = this.queue.filter((held) => held.presentation_id !== presentation_id);
    revision += 1; // the answer itself
    if (kind === "later" && !showing.list_id) {
      this.queue = []; // which item is the last of its query is another question again
      this.generation += 1; // for what is on its way, too, and until this item is answered
    } else if (kind !== "later") { // what was skipped is open already
      this.outbox.add("judgments", { presentation_id, revision, kind: "undo" }, -1);
      revision += 1;
      this.state.done -= 1;
      this.state.answers_last_hour = Math.max(0, this.state.answers_last_hour - 1);
      this.rest.add(-1);
    }
    const asks = showing.asks_about_query || this.#asksAbout(showing); // what the server gives back does not say
    if (this.card?.kind !== "feedback") this.#setCard(null);
    const draft = { note, flagged, evidence, active: 0 };
    this.queue.unshift({ ...showing, asks_about_query: asks, revision, draft, changing: false, back: kind === "later" && !showing.list_id, skipped: kind === "later" });
    this.next();
  }

  #asksAbout({ query }) {
    return this.card?.kind === "question" && this.card.showing.query === query;
  }

  get #undoable() {
    if (this.on("item")) return this.ready && !this.queue[0].changing && this.queue[0].kind !== "practice";
    return this.on("question", "list") ? this.sight.seen : this.on("nothing", "loading");
  }

  async #lastOfAll() {
    const last = await this.askLast("/api/presentations/previous");
    return last && { ...last, showing: { ...last.showing, revision: last.showing.revision - 1 } };
  }

  // ── Cards between two items ──

  // What must be said or asked before the next item.
  #cardAfter(showing, kind) {
    if (this.list.done.has(showing.presentation_id)) {
      const next = showing.list_id && this.list.after(showing, this.queue);
      if (next) this.putFirst(next);
    } else if (kind === "later") { // then this was not the last item of its query
      this.queue = this.queue.map((held) => (held.query === showing.query ? { ...held, asks_about_query: false } : held));
    } else if (showing.kind === "practice") this.#setCard({ kind: "feedback", showing });
    else if (showing.asks_about_query && !showing.changing) this.#setCard({ kind: "question", showing });
  }

  #setCard(card) {
    this.card = card;
    if (card) this.memory.set("card", card);
    else this.memory.remove("card");
  }

  #explain(feedback) {
    const found = feedback.find((one) => one.presentation_id === this.card?.showing?.presentation_id);
    if (found && this.card.kind === "feedback") this.#setCard({ ...this.card, feedback: found });
    // committed, and there is nothing to be said about it
    else if (this.card?.kind === "feedback" && !this.card.feedback && !this.#isUnsent(this.card.showing)) this.#setCard(null);
  }

  #showCard() {
    const { kind, showing, feedback } = this.card;
    const drawn = `${kind} ${showing.presentation_id} ${Boolean(feedback)} ${this.list.done.size}`;
    if (this.on(kind) && this.drawn === drawn) return this.showState();
    this.drawn = drawn;
    if (!this.item.is(showing)) this.item.paint(showing);
    this.list.draw(kind === "list" ? undefined : showing, this.queue);
    this.#banner(kind === "feedback" ? showing : {}, kind === "feedback");
    if (kind === "list") this.readPhase("list", this.list.end());
    else if (kind === "question") {
      this.question.show(this.keymap.used);
      this.readPhase("question", "Does the corpus answer this query?");
    } else if (feedback) this.readPhase("feedback", this.practice.show(feedback));
    else {
      this.practice.waiting();
      this.phase("feedback");
    }
  }

  #answerQuestion(answer) {
    if (!this.seen("question") || this.outbox.paused) return;
    const { presentation_id } = this.card.showing;
    this.countAct();
    this.past = this.past.map((one) => (
      one.showing.presentation_id === presentation_id ? { ...one, showing: { ...one.showing, asks_about_query: false } } : one));
    this.#setCard(null);
    this.outbox.add("answers", { presentation_id, answer }, 0);
    this.next();
  }

  // ── Lists ──

  // Whether nothing of the list is left to answer, and what comes next is known to be of another one.
  get #listIsAnswered() {
    const [next] = this.queue;
    const known = next ? !next.changing && !next.back : this.dry;
    return known && this.list.done.size > 0 && !this.queue.some((showing) => this.list.isOpen(showing));
  }

  // To another document of the list: an open one as it was left, an answered one to be changed.
  #moveTo(line) {
    if (!this.on("item", "list") || this.reasoning || this.keys.covered || this.undoing) return;
    if (this.card?.kind === "list") this.#setCard(null);
    this.keepDraft();
    const { showing, kind, note, flagged, evidence } = line;
    if (kind === undefined) this.putFirst(this.queue.find(({ presentation_id: id }) => id === showing.presentation_id) ?? showing);
    else if (kind === "later") this.putFirst({ ...showing, skipped: true, draft: { note, flagged, evidence, active: 0 } });
    else this.putFirst(changed(line));
    this.toKeys();
    this.next();
  }

  // True where the key was for the list; it may be held.
  #step(by) {
    if (!by || !this.on("item", "list") || !this.root.hasAttribute("data-list")) return false;
    const line = this.list.neighbour(by);
    if (line) this.#moveTo(line);
    return true;
  }

  // Another size of the window has other places: the document on screen stays in view, unless somebody writes.
  #resized() {
    const writes = this.root.getRootNode().activeElement?.matches("textarea, input");
    if (this.on("item") && this.root.hasAttribute("data-list") && !writes) this.item.settle();
  }

  // On to the question about the query, or to the next query.
  #leaveList() {
    const { showing } = this.card;
    const { asks } = this.list;
    this.queue = this.queue.filter(({ presentation_id: id }) => !this.list.done.has(id)); // what was skipped comes again
    this.dry = false;
    this.list.leave();
    this.#setCard(asks ? { kind: "question", showing: { ...showing, list_id: "", asks_about_query: asks } } : null);
  }

  #skip() {
    if (!this.seen("question")) return;
    this.#setCard(null);
    this.next();
  }

  // Enter, where the screen waits to be read.
  #goOn() {
    if (this.seen("welcome")) this.#begin();
    else if (this.seen("result")) this.memory.remove("practising");
    else if (this.seen("feedback") && this.card.feedback) this.#setCard(null);
    else if (this.seen("list") && !this.outbox.paused) this.#leaveList();
    else return;
    this.next();
  }

  // ── History ──

  // `listing` is all answers, or what was skipped.
  #openHistory(listing) {
    if (this.on("history") && this.listing === listing) return this.closeHistory();
    if (!this.on("item", "nothing", "history", "list")) return;
    this.keepDraft();
    this.listing = listing;
    const answers = listing === "answers";
    const title = answers ? "My answers" : "Skipped items";
    this.root.querySelector(".history h1").textContent = title;
    this.root.querySelector(".history").setAttribute("aria-label", title);
    this.root.querySelector(".history .hint").replaceChildren(answers ? "Newest first. " : "Skipped items come back after the others, in this order. ",
      node("span", { className: "by-key" }, ...["↑", "↓", "Enter"].flatMap((key, place) => [["", " ", " and "][place], node("kbd", {}, key)]),
        `, or a click, ${answers ? "bring an item back to be changed." : "take one up now."}`),
      node("span", { className: "by-touch" }, answers ? "Touch an item to change it." : "Touch an item to grade it now."));
    this.root.querySelector(".filter").hidden = !answers;
    this.root.querySelector(".history .withheld").hidden = true;
    this.root.querySelector(".pages").hidden = true;
    this.readPhase("history", `${title}.`);
    this.fillHistory(true);
  }

  readHistory(filling) {
    return this.listing === "skipped" ? this.#readSkipped() : this.#readAnswers(filling);
  }

  async #readAnswers(filling) {
    const found = await ask(`/api/history?${this.search.parameters}`);
    if (found.answers.length && !this.guide.hash) await this.readGuide(found.answers[0].showing.guide_hash);
    if (this.filling === filling) this.search.show(found);
    const grades = new Map(found.grades.map((one) => [`${one.guide_hash} ${one.value}`, one]));
    const answers = found.answers.map((one) => ({ ...one, given: grades.get(`${one.guide_hash} ${one.grade}`) }));
    return [answers, this.search.filtered ? "No answers match." : undefined];
  }

  async #readSkipped() {
    const found = await ask("/api/skipped");
    if (found.length && !this.guide.hash) await this.readGuide(found[0].guide_hash);
    return [found.map((showing) => ({ showing, kind: "later", otherwise: "Later" })), "You have skipped no items."];
  }

  // Bring an item that was skipped on screen now. Which item is the last of its query may be another then.
  #takeUp({ showing }) {
    if (!this.seen("history") || this.outbox.waiting.length) return;
    this.countAct();
    if (this.queue.some(({ query }) => query === showing.query)) {
      this.queue = [];
      this.generation += 1;
    }
    this.putFirst({ ...showing, back: true });
    this.closeHistory();
  }

  #change(answered) {
    if (!this.seen("history") || this.outbox.waiting.length) return;
    this.putFirst(changed(answered));
    this.closeHistory();
  }

  // Keys were given again: everything that shows one shows the new one.
  #takeKeys() {
    this.guide.draw();
    this.guide.mark(this.queue[0]?.was);
    this.listKeys();
  }

  async readGuide(hash) {
    await super.readGuide(hash);
    if (this.keymap.displaced) this.status.notice(this.keymap.displaced);
  }

  listKeys() {
    this.keymap.show();
    if (!this.guide.scale) return;
    this.search.fill(this.guide.scale);
    const asked = this.question.choices(this.keymap.used).map(([key]) => key).join(" ");
    this.keys.fill(this.guide.scale, [[asked, "Yes, Partly, No: whether the corpus answers a query"],
      [this.keymap.of("mark"), "Next marked word"], [this.keymap.of("skipped"), "Skipped items: grade an item now"],
      [this.keymap.of("settings"), "Settings"]], this.keymap.of("whole"));
  }

  showState() {
    this.status.show({ ...this.state, today: this.rest.today }, this.outbox);
  }

  #mode(mode) {
    this.reasoning = mode === "reasons";
    this.root.querySelector(".grades").hidden = this.reasoning;
    this.root.querySelector(".reasons").hidden = !this.reasoning;
    if (this.reasoning) this.root.querySelector(".reasons").scrollIntoView({ block: "nearest" });
  }

  #reasons() {
    this.root.querySelector(".reasons .choices").replaceChildren(...REASONS.map((reason, index) => {
      const button = node("button", { type: "button", className: "tool" }, node("kbd", {}, String(index + 1)), ` ${reason}`);
      button.addEventListener("click", () => this.answer("cannot_tell", { reason }));
      return button;
    }));
  }

  // ── Keys and pointer ──

  #press(pressed, digit) {
    if (this.on("question")) {
      if (this.question.press(pressed)) return true;
    } else if (this.on("history")) {
      if (this.history.press(pressed) || (this.listing === "answers" && this.search.press(pressed))) return true;
    } else if (this.on("item")) {
      const mark = () => this.item.evidence.press(pressed, (grade) => this.answer("grade", { grade }));
      const used = this.reasoning ? this.#pressReason(pressed, digit) : mark() || this.#pressGrade(pressed, digit);
      if (used) return true;
    } else if (pressed === "Enter") {
      this.#goOn();
      return true;
    }
    const command = this.keymap.command(pressed);
    if (command) this.use(command);
    return Boolean(command);
  }

  #pressGrade(pressed, digit) {
    const grade = this.guide.keys.get(pressed) ?? (this.keymap.command(pressed) ? undefined : this.guide.keys.get(digit));
    if (grade) this.answer("grade", { grade: grade.value });
    return Boolean(grade);
  }

  // While a reason is asked for, the grade keys do nothing.
  #pressReason(pressed, digit) {
    const reason = REASONS[Number(digit ?? pressed) - 1];
    if (reason) this.answer("cannot_tell", { reason });
    return Boolean(reason) || this.guide.keys.has(pressed) || this.guide.keys.has(digit);
  }

  #leaveMarking() {
    this.item.evidence.leave();
    this.#markEarlier(this.queue[0]);
  }

  #escape(typing) {
    if (this.keys.open) return; // the dialog closes itself
    if (this.asking.writing) return; // its field has keys of its own
    if (typing && this.on("history")) this.history.leaveField();
    else if (typing) this.item.closeNote();
    else if (this.on("history")) this.closeHistory();
    else if (this.on("question")) this.#skip();
    else if (this.on("item") && this.reasoning) this.#mode("grades");
    else if (this.on("item") && this.item.evidence.isOpen) this.#leaveMarking();
    else if (this.on("item") && this.queue[0].changing) this.leaveChange();
  }
}

// An answered item as it comes back, to be changed.
function changed({ showing, kind, grade, reason, note, flagged, evidence }) {
  return { ...showing, asks_about_query: false, changing: true, withheld: kind === null, was: grade, wasReason: reason, draft: { note, flagged, evidence, active: 0 } };
}
