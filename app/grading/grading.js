// The grading loop: the next item is on screen before the last grade has left the machine.
//
// The page holds the next few items. A key paints the next one at once and puts the answer into the outbox,
// which sends it to /api/judgments and keeps it in the browser's storage until the server says that it is
// committed. Every answer has a key of its own and names the revision that was seen, so it may be sent as
// often as it takes and is written once. The server's answer brings the items that come next.
//
// Text from documents and queries only ever becomes text nodes.

const SEEN = 150; // ms on screen before an answer counts: nobody reads faster
const MOST_UNSENT = 5; // answers not yet committed, then the loop pauses
const HELD = 6; // items held ahead
const PATIENCE = 15_000; // ms for one request
const LOOK_AGAIN = 30_000; // ms, on an empty queue
const BACKOFF = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
const REASONS = ["The query is unclear", "The document is broken", "It needs expertise that I lack", "Something else"];
// How far a key moves the document, given the height that is on screen.
const SCROLL = {
  ArrowDown: () => 60, ArrowUp: () => -60, PageDown: (page) => page * 0.9, PageUp: (page) => page * -0.9,
  Home: () => -Infinity, End: () => Infinity,
};
const TOOLS = { x: "cannot", l: "later", f: "flag", n: "note", u: "undo", w: "whole", g: "guide", "?": "keys" };

export default function mount({ data, parentElement }) {
  const root = parentElement.querySelector(".grading");
  root.loop ??= new Loop(root, data.annotator, `goldset:${data.project}:${data.annotator}`);
  return () => {
    root.loop?.leave();
    root.loop = undefined;
  };
}

// ── Asking the server ──────────────────────────────────────────────────────────────────────────────

class Refusal extends Error {}

async function ask(path, body) {
  const request = { signal: AbortSignal.timeout(PATIENCE), headers: { Accept: "application/json" } };
  if (body !== undefined) {
    const text = JSON.stringify(body);
    // keepalive lets the request outlive the page; browsers allow it 64 KiB
    Object.assign(request, { method: "POST", body: text, keepalive: text.length < 60_000 });
    request.headers["Content-Type"] = "application/json";
  }
  const response = await fetch(path, request);
  if (response.status === 401) {
    location.assign(`/sign-in?next=${encodeURIComponent(location.pathname)}`);
    return new Promise(() => {}); // the page is leaving
  }
  if (response.ok) return response.json();
  const { message } = await response.json().catch(() => ({}));
  if (response.status >= 500) throw new Error(message ?? `the server answered ${response.status}`);
  throw new Refusal(message ?? `the server answered ${response.status}`);
}

// ── What is not yet committed ──────────────────────────────────────────────────────────────────────

class Outbox {
  // Each answer lies under its own name in local storage, so that tabs do not overwrite each other's and a
  // reload loses none. One request is under way at a time, which keeps an undo behind its grade.
  constructor(prefix, { wanted, answered, changed }) {
    Object.assign(this, { prefix: `${prefix}:answer:`, wanted, answered, changed });
    this.waiting = this.#stored();
    this.failures = 0;
    this.retryAt = 0;
  }

  get ids() {
    return this.waiting.map(({ presentation_id }) => presentation_id);
  }

  get answers() {
    const change = { grade: 1, cannot_tell: 1, undo: -1, later: 0 };
    return this.waiting.reduce((sum, { kind }) => sum + change[kind], 0);
  }

  add(answer) {
    const made = performance.timeOrigin + performance.now();
    const client_key = crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(16).padStart(8, "0")).join("");
    const item = { ...answer, client_key };
    this.waiting.push(item);
    try {
      localStorage.setItem(this.prefix + client_key, JSON.stringify({ made, item }));
    } catch {
      // storage full or forbidden: it stays in memory and is sent all the same
    }
    this.changed();
    if (!this.failures) this.send();
  }

  async send() {
    clearTimeout(this.timer);
    if (this.busy || !this.waiting.length) return;
    this.busy = true;
    const batch = this.waiting.slice(0, this.single ? 1 : 20);
    try {
      const answer = await ask("/api/judgments", { submissions: batch, ...this.wanted(batch) });
      this.#settle(answer);
    } catch (error) {
      if (error instanceof Refusal) this.#refused(batch, error.message);
      else this.#failed();
    } finally {
      this.busy = false;
    }
    this.changed();
    if (!this.failures) this.send();
  }

  #settle(answer) {
    this.failures = 0;
    this.single = false;
    this.#forget(answer.outcomes.map(({ client_key }) => client_key));
    this.answered(answer);
  }

  // The request as a whole was refused: find the answer that cannot be taken, and do not let it block the rest.
  #refused(batch, message) {
    if (batch.length > 1) this.single = true;
    else this.#settle({ outcomes: [{ ...batch[0], status: "refused", message }], queue: null });
  }

  #failed() {
    const wait = BACKOFF[Math.min(this.failures++, BACKOFF.length - 1)];
    this.retryAt = Date.now() + wait;
    this.timer = setTimeout(() => this.send(), wait);
  }

  #forget(keys) {
    this.waiting = this.waiting.filter(({ client_key }) => !keys.includes(client_key));
    for (const key of keys) try { localStorage.removeItem(this.prefix + key); } catch { /* nothing was kept */ }
  }

  #stored() {
    try {
      return Object.keys(localStorage)
        .filter((name) => name.startsWith(this.prefix))
        .map((name) => JSON.parse(localStorage.getItem(name)))
        .sort((a, b) => a.made - b.made)
        .map(({ item }) => item);
    } catch {
      return [];
    }
  }
}

// ── The loop ───────────────────────────────────────────────────────────────────────────────────────

class Loop {
  constructor(root, annotator, prefix) {
    this.root = root;
    this.prefix = prefix;
    this.queue = [];
    this.past = []; // what was answered on this page, newest last
    this.acts = 0;
    this.counts = { done: 0, total: 0 };
    this.message = "";
    this.draft = { note: "", flagged: false };
    this.ending = new AbortController();
    this.outbox = new Outbox(prefix, {
      wanted: (batch) => ({ holding: this.#holding(batch), limit: Math.max(0, HELD - this.queue.length) }),
      answered: (answer) => this.#answered(answer),
      changed: () => this.#showState(),
    });
    this.#listen();
    this.#foldGuide(this.#remembered("guide") ?? (innerWidth >= 1000 ? "open" : "folded"));
    this.#choices();
    this.#start();
  }

  leave() {
    this.ending.abort();
    clearTimeout(this.outbox.timer);
    clearInterval(this.ticking);
    clearTimeout(this.looking);
  }

  async #start() {
    await this.outbox.send(); // what an earlier page left comes first, so that it is not shown again
    await this.#fetch();
  }

  // Ask for the state of things as the server knows it; the item on screen stays if it is still the next.
  async #fetch() {
    if (this.fetching || this.ending.signal.aborted) return;
    this.fetching = true;
    const { acts } = this;
    const holding = this.outbox.ids.map((id) => `&holding=${encodeURIComponent(id)}`).join("");
    try {
      const queue = await ask(`/api/presentations?limit=${HELD}${holding}`);
      this.unreachable = false;
      if (acts === this.acts) { // else what came is older than what was done meanwhile
        this.queue = [];
        this.#take(queue);
        this.dry = !queue.showings.length;
      }
    } catch (error) {
      this.unreachable = true;
      this.#trouble(`Your items cannot be fetched just now (${error.message}). Trying again…`);
      setTimeout(() => this.#fetch(), 2_000);
    } finally {
      this.fetching = false;
    }
    this.#next();
  }

  #take(queue) {
    if (!queue) return;
    const known = new Set(this.#holding([]));
    const fresh = queue.showings.filter(({ presentation_id }) => !known.has(presentation_id));
    this.queue.push(...fresh);
    this.counts = { done: queue.done + this.outbox.answers, total: queue.total };
    this.message = queue.message;
  }

  // What need not be sent again: what the page has, and what it has answered without the server knowing.
  #holding(batch) {
    const sent = batch.map(({ client_key }) => client_key);
    const unsent = this.outbox.waiting.filter(({ client_key }) => !sent.includes(client_key));
    return [...this.queue, ...unsent].map(({ presentation_id }) => presentation_id);
  }

  #answered({ outcomes, queue }) {
    const failed = outcomes.filter(({ status }) => status === "stale" || status === "refused");
    this.#take(queue);
    if (failed.length) {
      const ids = failed.map(({ presentation_id }) => presentation_id);
      this.past = this.past.filter(({ showing }) => !ids.includes(showing.presentation_id));
      const stale = failed.every(({ status }) => status === "stale");
      this.#notice(stale
        ? "That item was answered in another tab or window; the answer given there stands."
        : `An answer was not taken: ${failed.find(({ status }) => status === "refused").message}.`);
      this.#fetch();
    } else {
      this.#next();
    }
  }

  // Bring on screen what stands first in the queue.
  #next() {
    const [showing] = this.queue;
    if (!showing) {
      this.shown = undefined;
      if (this.dry && !this.outbox.waiting.length) this.#nothing();
      else this.#phase("loading");
      if (!this.dry && !this.outbox.waiting.length && !this.unreachable) this.#fetch();
    } else if (showing.guide_hash !== this.guide?.guide_hash) this.#loadGuide(showing.guide_hash);
    else if (this.shown?.presentation_id !== showing.presentation_id || this.shown.revision !== showing.revision) this.#paint(showing);
    else this.#showState();
  }

  #nothing() {
    const { done, total } = this.counts;
    this.root.querySelector(".nothing h1").textContent = total ? "Nothing left to grade" : "Nothing to grade yet";
    this.root.querySelector(".why").textContent = this.message || "Nothing is open for you just now.";
    this.root.querySelector(".back").hidden = !done;
    this.#phase("nothing");
    clearTimeout(this.looking); // a round may open while the page stands here
    this.looking = setTimeout(() => this.#phaseIs("nothing") && this.#fetch(), LOOK_AGAIN);
  }

  // ── Answers ──

  get ready() {
    return this.#phaseIs("item") && this.painted && performance.now() - this.paintedAt >= SEEN && !this.undoing
      && this.outbox.waiting.length < MOST_UNSENT && !this.#covered();
  }

  answer(kind, more = {}) {
    if (!this.ready) return;
    const showing = this.queue.shift();
    const note = this.#field.value.trim();
    const { flagged } = this.draft;
    this.past = [...this.past.slice(-49), { showing, kind, note, flagged, ...more }];
    this.#acted();
    if (kind === "grade" || kind === "cannot_tell") this.counts.done += 1;
    this.outbox.add({
      presentation_id: showing.presentation_id, revision: showing.revision, kind, ...more,
      ...(note && { note }), flagged, shown_at: this.shownAt, active_ms: Math.round(this.#active()),
    });
    this.#next();
  }

  async undo() {
    if (this.outbox.waiting.length >= MOST_UNSENT || this.#covered() || this.undoing) return;
    if (this.#phaseIs("item") && !this.ready) return;
    const last = this.past.pop() ?? (await this.#lastOfAll());
    if (!last) return this.#notice("There is nothing to take back.");
    this.#acted();
    const { showing, kind } = last;
    const { presentation_id } = showing;
    let { revision } = showing;
    this.queue = this.queue.filter((held) => held.presentation_id !== presentation_id);
    revision += 1; // the answer itself
    if (kind !== "later") { // what was put off is open already
      this.outbox.add({ presentation_id, revision, kind: "undo" });
      revision += 1;
      this.counts.done -= 1;
    }
    this.queue.unshift({ ...showing, revision });
    this.#next();
    this.#write(last);
    const was = this.guide?.scale.findIndex(({ value }) => value === last.grade);
    this.root.querySelectorAll(".grade")[was]?.setAttribute("data-was", "");
  }

  #acted() {
    this.acts += 1;
    this.dry = false;
  }

  // After a reload the page remembers nothing; the server does.
  async #lastOfAll() {
    if (this.outbox.waiting.length) return undefined;
    this.undoing = true;
    try {
      const last = await ask("/api/presentations/previous");
      return last && { ...last, showing: { ...last.showing, revision: last.showing.revision - 1 } };
    } catch (error) {
      this.#notice(`The last answer cannot be fetched just now (${error.message}).`);
      return undefined;
    } finally {
      this.undoing = false;
    }
  }

  // ── Painting ──

  #paint(showing) {
    const find = (name) => this.root.querySelector(name);
    const query = find(".query");
    const changed = query.textContent !== showing.query;
    this.shown = showing;
    this.painted = false;
    this.whole = undefined;
    query.textContent = showing.query;
    query.removeAttribute("tabindex");
    fill(find(".title"), showing.title.length ? showing.title : [["Untitled document", false]]);
    find(".title").classList.toggle("untitled", !showing.title.length);
    put(find(".need"), showing.information_need);
    put(find(".facts"), [showing.published, showing.url].filter(Boolean).join("  ·  "));
    this.#text(showing.passage, false);
    find(".more").hidden = !showing.has_more;
    find(".found").scrollTop = 0;
    this.#write({ note: "", flagged: false });
    this.#mode("grades");
    this.root.querySelectorAll("[data-was]").forEach((grade) => grade.removeAttribute("data-was"));
    appear(find(".found"));
    if (changed) appear(query);
    this.root.dataset.presentation = showing.presentation_id;
    this.#phase("item");
    find(".asked").scrollIntoView({ block: "nearest" }); // where the page scrolls, the next item starts at its query
    if (query.scrollHeight > query.clientHeight + 4) query.tabIndex = 0; // a very long one is scrolled by key, too
    const said = changed ? `Query: ${showing.query}. ` : "";
    find(".announcer").textContent = `${this.counts.done} of ${this.counts.total} answered. ${said}Document: ${plain(showing.title) || "untitled"}.`;
    // An item counts as seen only from the frame in which it was drawn.
    requestAnimationFrame(() => setTimeout(() => {
      if (this.shown !== showing) return;
      this.painted = true;
      this.paintedAt = performance.now();
      this.shownAt = new Date().toISOString();
      this.watched = 0;
      this.watching = document.hidden ? undefined : this.paintedAt;
    }));
  }

  #text(segments, whole) {
    const box = this.root.querySelector(".text");
    fill(box, segments.length ? segments : [["This document has no text beyond its title.", false]]);
    box.classList.toggle("untitled", !segments.length);
    const button = this.root.querySelector(".more");
    button.setAttribute("aria-pressed", whole);
    button.querySelector("span").textContent = whole ? "Best passage only" : "Whole document";
  }

  async #toggleWhole() {
    const showing = this.shown;
    if (!showing?.has_more) return;
    if (this.whole) {
      this.whole = undefined;
      this.#text(showing.passage, false);
      return;
    }
    try {
      const { segments } = await ask(`/api/presentations/${showing.presentation_id}/document`);
      if (this.shown !== showing) return;
      this.whole = segments;
      this.#text(segments, true);
      this.root.querySelector(".announcer").textContent = "The whole document is shown.";
    } catch (error) {
      this.#notice(`The whole document cannot be fetched just now (${error.message}).`);
    }
  }

  #showState() {
    const { done, total } = this.counts;
    const waiting = this.outbox.waiting.length;
    const track = this.root.querySelector(".track");
    track.setAttribute("aria-valuemax", total);
    track.setAttribute("aria-valuenow", done);
    track.firstElementChild.style.inlineSize = total ? `${(100 * done) / total}%` : "0";
    this.root.querySelector(".count").textContent = total ? `${done} of ${total}` : "";
    const saved = this.root.querySelector(".saved");
    // 'Saved' stands only where everything that was answered here is committed.
    saved.textContent = waiting ? (this.outbox.failures ? "Not saved yet" : "") : this.past.length ? "Saved" : "";
    this.root.toggleAttribute("data-paused", waiting >= MOST_UNSENT);
    clearInterval(this.ticking);
    if (this.outbox.failures) {
      this.ticking = setInterval(() => this.#waitingTrouble(), 1_000);
      this.#waitingTrouble();
    } else if (!this.unreachable) {
      this.#trouble(this.noticed && Date.now() < this.noticedUntil ? this.noticed : "");
    }
  }

  #waitingTrouble() {
    const { waiting, retryAt } = this.outbox;
    const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1_000));
    const again = this.outbox.busy ? "Trying now…" : `Trying again in ${seconds} s.`;
    const pause = waiting.length >= MOST_UNSENT ? " Grading pauses until they are saved." : " You can go on.";
    this.#trouble(
      `Not saved yet: ${waiting.length} waiting, kept in this browser. The server cannot be reached. ${again}${pause}`,
      `Not saved yet. The server cannot be reached.${pause}`,
    );
  }

  // What a screen reader says stays the same while the seconds on screen run, or it would speak every second.
  #trouble(sentence, spoken = sentence) {
    put(this.root.querySelector(".trouble"), sentence);
    const alarm = this.root.querySelector(".alarm");
    if (alarm.textContent !== spoken) alarm.textContent = spoken;
  }

  #notice(sentence) {
    this.noticed = sentence;
    this.noticedUntil = Date.now() + 6_000;
    this.#trouble(sentence);
    setTimeout(() => this.#showState(), 6_100);
  }

  #phase(phase) {
    this.root.dataset.phase = phase;
    this.root.querySelector(".loading").hidden = phase !== "loading";
    this.root.querySelector(".nothing").hidden = phase !== "nothing";
    this.root.querySelector(".item").hidden = phase !== "item";
    if (phase !== "item") delete this.root.dataset.presentation;
    this.#showState();
  }

  #phaseIs(phase) {
    return this.root.dataset.phase === phase;
  }

  // ── The guide ──

  async #loadGuide(hash) {
    if (this.loadingGuide) return;
    this.loadingGuide = true;
    this.#phase("loading"); // nothing is graded under another scale
    try {
      this.#showGuide(await ask(`/api/guides/${hash}`));
    } catch (error) {
      this.#notice(`The guide cannot be fetched just now (${error.message}). Trying again…`);
      await new Promise((after) => { setTimeout(after, 2_000); });
    } finally {
      this.loadingGuide = false;
    }
    if (!this.ending.signal.aborted) this.#next();
  }

  #showGuide(guide) {
    this.guide = guide;
    this.grades = new Map(guide.scale.map((grade) => [grade.key, grade]));
    this.root.querySelector(".guide h2").textContent = guide.title;
    // Made by a Markdown renderer that lets no HTML through; the one place where HTML is set.
    this.root.querySelector(".guide .body").innerHTML = guide.html;
    this.root.querySelector(".guide .scale").replaceChildren(...guide.scale.map((grade) => described(grade)));
    this.root.querySelector(".grades").replaceChildren(...guide.scale.map((grade) => this.#gradeButton(grade)));
    this.#keyList();
  }

  #gradeButton(grade) {
    const button = node("button", { type: "button", className: "grade", title: grade.definition },
      keycap(grade), node("span", {}, grade.name));
    button.style.setProperty("--grade", grade.colour);
    button.addEventListener("click", () => this.answer("grade", { grade: grade.value }));
    for (const [event, on] of [["pointerenter", true], ["focus", true], ["pointerleave", false], ["blur", false]]) {
      button.addEventListener(event, () => this.root.querySelectorAll(".scale > div").forEach((entry) => {
        entry.toggleAttribute("data-pointed", on && entry.dataset.grade === String(grade.value));
      }));
    }
    return button;
  }

  #foldGuide(state) {
    this.root.dataset.guide = state;
    this.root.querySelector('[data-do="guide"]').setAttribute("aria-expanded", state === "open");
  }

  #remembered(name, value) {
    try {
      if (value === undefined) return localStorage.getItem(`${this.prefix}:${name}`);
      localStorage.setItem(`${this.prefix}:${name}`, value);
    } catch { /* not remembered */ }
    return null;
  }

  #keyList() {
    const tools = Array.from(this.root.querySelectorAll(".tools .tool"), (tool) => [
      tool.querySelector("kbd").textContent, tool.lastChild.textContent.trim()]);
    const grades = this.guide.scale.map((grade) => [grade.key, grade.name]);
    const rows = [...grades, ["w", "Whole document, and back"], ["↑ ↓", "Scroll the document"], ...tools];
    this.root.querySelector(".keys dl").replaceChildren(...rows.map(([key, name]) =>
      node("div", {}, node("dt", {}, node("kbd", {}, key)), node("dd", {}, name))));
  }

  // ── Note, flag, cannot tell ──

  get #keys() {
    return this.root.querySelector(".keys");
  }

  get #field() {
    return this.root.querySelector("textarea");
  }

  #write({ note, flagged }) {
    this.draft.flagged = Boolean(flagged);
    this.#field.value = note ?? "";
    this.root.querySelector(".note").hidden = !note;
    this.#marks();
  }

  #marks() {
    const press = (name, on) => this.root.querySelector(`[data-do="${name}"]`).setAttribute("aria-pressed", on);
    press("note", Boolean(this.#field.value.trim()));
    press("flag", this.draft.flagged);
  }

  #openNote() {
    this.root.querySelector(".note").hidden = false;
    this.#field.focus();
  }

  #closeNote() {
    this.#field.blur();
    this.root.querySelector(".note").hidden = !this.#field.value.trim();
    this.#marks();
  }

  #mode(mode) {
    this.reasoning = mode === "reasons";
    this.root.querySelector(".grades").hidden = this.reasoning;
    this.root.querySelector(".reasons").hidden = !this.reasoning;
  }

  #choices() {
    this.root.querySelector(".choices").replaceChildren(...REASONS.map((reason, index) => {
      const button = node("button", { type: "button", className: "tool" }, node("kbd", {}, String(index + 1)), ` ${reason}`);
      button.addEventListener("click", () => this.answer("cannot_tell", { reason }));
      return button;
    }));
  }

  // ── Keys and pointer ──

  #listen() {
    const { signal } = this.ending;
    addEventListener("keydown", (event) => this.#key(event), { signal, capture: true });
    document.addEventListener("visibilitychange", () => this.#watch(), { signal });
    addEventListener("pagehide", () => this.outbox.send(), { signal });
    addEventListener("online", () => this.outbox.send(), { signal });
    this.root.addEventListener("click", (event) => {
      const name = event.target.closest?.("[data-do]")?.dataset.do;
      if (name) this.#do(name);
    }, { signal });
    this.#field.addEventListener("input", () => this.#marks(), { signal });
    this.#keys.addEventListener("click", ({ target, currentTarget }) => {
      if (target === currentTarget) currentTarget.close();
    }, { signal });
  }

  #key(event) {
    const target = event.composedPath()[0];
    if (event.key === "Escape") {
      if (target === this.#field) this.#closeNote();
      else if (this.reasoning) this.#mode("grades");
      return;
    }
    if (target === this.#field && event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#closeNote();
    if (this.#scroll(event, target)) event.preventDefault();
    if (event.repeat && target.closest?.("button")) event.preventDefault(); // a held Enter would click on and on
    if (event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "?" && this.#keys.open) return this.#keys.close();
    if (typing(target) || this.#covered()) return;
    if (this.#press(event)) {
      event.preventDefault();
      event.stopPropagation(); // Streamlit listens to single keys too
    }
  }

  // Keys that scroll move the document, wherever on the page the keyboard is; a text field keeps its own.
  #scroll({ key, ctrlKey, metaKey, altKey, shiftKey }, target) {
    if (!SCROLL[key] || ctrlKey || metaKey || altKey || shiftKey || typing(target) || this.#covered()) return false;
    if (target.closest?.(".guide, .query")) return false; // they scroll by themselves
    // In a small window it is the page that scrolls.
    const boxes = [this.root.querySelector(".found"), document.querySelector('[data-testid="stMain"]')];
    const box = boxes.find((one) => one && one.scrollHeight > one.clientHeight + 4);
    box?.scrollTo({ top: Math.min(box.scrollHeight, Math.max(0, box.scrollTop + SCROLL[key](box.clientHeight))) });
    return Boolean(box);
  }

  #press({ key, code }) {
    // Where digits need Shift, the key's place on the keyboard tells them.
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1];
    const pressed = key.length === 1 ? key.toLowerCase() : key;
    if (this.reasoning) {
      const reason = REASONS[Number(digit ?? pressed) - 1];
      if (reason) this.answer("cannot_tell", { reason });
      if (reason || this.grades?.has(pressed) || this.grades?.has(digit)) return true;
    }
    const grade = this.grades?.get(pressed) ?? (TOOLS[pressed] ? undefined : this.grades?.get(digit));
    if (grade) this.answer("grade", { grade: grade.value });
    else if (TOOLS[pressed]) this.#do(TOOLS[pressed]);
    return Boolean(grade ?? TOOLS[pressed]);
  }

  #do(name) {
    if (name === "guide") {
      this.#foldGuide(this.root.dataset.guide === "open" ? "folded" : "open");
      this.#remembered("guide", this.root.dataset.guide);
    } else if (name === "keys") this.#keys.showModal();
    else if (name === "undo") this.undo();
    else if (!this.#phaseIs("item")) return;
    else if (name === "later") this.answer("later");
    else if (name === "cannot") this.#mode(this.reasoning ? "grades" : "reasons");
    else if (name === "dismiss") this.#mode("grades");
    else if (name === "note") this.#openNote();
    else if (name === "whole") this.#toggleWhole();
    else if (name === "flag") {
      this.draft.flagged = !this.draft.flagged;
      this.#marks();
    }
  }

  // Whether something lies over the item: our list of keys, or a dialog of Streamlit's.
  #covered() {
    const others = Array.from(document.querySelectorAll('[role="dialog"]'));
    return this.#keys.open || document.hidden || others.some((dialog) => dialog.checkVisibility());
  }

  #watch() {
    const now = performance.now();
    if (document.hidden && this.watching !== undefined) {
      this.watched += now - this.watching;
      this.watching = undefined;
    } else if (!document.hidden) this.watching = now;
  }

  #active() {
    return this.watched + (this.watching === undefined ? 0 : performance.now() - this.watching);
  }
}

// ── Small things ───────────────────────────────────────────────────────────────────────────────────

function node(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function fill(box, segments) {
  box.replaceChildren(...segments.map(([text, marked]) => (marked ? node("mark", {}, text) : document.createTextNode(text))));
}

function put(box, text) {
  box.textContent = text ?? "";
  box.hidden = !text;
}

// A breath of change, so that two alike items in a row are seen to be two.
function appear(box) {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) box.animate([{ opacity: 0.4 }, { opacity: 1 }], 140);
}

function plain(segments) {
  return segments.map(([text]) => text).join("");
}

function typing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function keycap({ key, colour }) {
  const cap = node("kbd", {}, key);
  cap.style.background = colour;
  cap.style.color = ink(colour);
  return cap;
}

function described(grade) {
  const entry = node("div", {}, node("dt", {}, keycap(grade), ` ${grade.name}`), node("dd", {}, grade.definition));
  entry.dataset.grade = grade.value;
  return entry;
}

// Black or white, whichever stands out more against the colour (WCAG relative luminance).
function ink(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "#ffffff" : "#000000";
}
