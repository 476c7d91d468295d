// What the screen says about the work itself: how far it is, how fast, whether all is saved, and what is wrong.

import { put, thousands } from "./dom.js";

export class Status {
  constructor(root) {
    this.root = root;
  }

  leave() {
    clearInterval(this.ticking);
    clearTimeout(this.ending);
  }

  // What only a screen reader says.
  announce(sentence) {
    this.#find(".announcer").textContent = sentence;
  }

  // A sentence that goes by itself.
  notice(sentence) {
    this.noticed = sentence;
    this.#trouble(sentence);
    clearTimeout(this.ending);
    this.ending = setTimeout(() => {
      this.noticed = "";
      if (!this.lasting) this.#trouble("");
    }, 6_000);
  }

  // A sentence that stays until it is put to ''.
  unreachable(sentence) {
    this.lasting = sentence;
    this.#trouble(sentence || this.noticed || "");
  }

  // `count` are the words on how far it is, where they are not 'done of total'.
  show({ done, total, answers_last_hour: hour, median_seconds: each, count, skipped: later, today }, outbox) {
    this.#drawSkipped(later);
    const track = this.#find(".track");
    track.setAttribute("aria-valuemax", total);
    track.setAttribute("aria-valuenow", done);
    track.setAttribute("aria-valuetext", `${thousands(done)} of ${thousands(total)} answered`);
    track.firstElementChild.style.inlineSize = total ? `${(100 * done) / total}%` : "0";
    this.#find(".count").textContent = count ?? (total ? `${thousands(done)} of ${thousands(total)}` : "");
    this.#find(".pace").textContent = pace(hour, total - done, each, today);
    this.#saved(outbox);
  }

  // Its button leads to the skipped items.
  #drawSkipped(later) {
    const button = this.#find(".skipped");
    if (!button) return;
    button.hidden = !later;
    button.lastElementChild.textContent = `${thousands(later)} skipped`;
  }

  #saved(outbox) {
    const waiting = outbox.waiting.length;
    // 'Saved' is shown only when everything that was answered here is committed.
    const saving = outbox.failures ? "Not saved yet" : outbox.paused ? "Saving…" : "";
    this.#find(".saved").textContent = waiting ? saving : outbox.committed ? "Saved" : "";
    this.root.toggleAttribute("data-paused", outbox.paused);
    clearInterval(this.ticking);
    if (outbox.failures) {
      this.offline = true;
      this.ticking = setInterval(() => this.#waiting(outbox), 1_000);
      this.#waiting(outbox);
    } else if (this.offline) {
      this.offline = false;
      this.#trouble(this.lasting || this.noticed || "");
    }
  }

  #waiting({ waiting, retryAt, busy, paused, problem, stored }) {
    const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1_000));
    const again = busy ? "Trying now…" : `Trying again in ${seconds} s.`;
    const pause = paused ? ` ${this.root.dataset.work ?? "Grading"} pauses until they are saved.` : " You can go on.";
    const place = stored ? "kept in this browser" : "kept while this page is open: do not close it";
    this.#trouble(
      `Not saved yet: ${thousands(waiting.length)} waiting, ${place}. ${problem} ${again}${pause}`,
      `Not saved yet. ${problem}${pause}`,
    );
  }

  // What a screen reader says stays the same while the seconds on screen run, or it would speak every second.
  #trouble(sentence, spoken = sentence) {
    put(this.#find(".trouble"), sentence);
    const alarm = this.#find(".alarm");
    if (alarm.textContent !== spoken) alarm.textContent = spoken;
  }

  #find(name) {
    return this.root.querySelector(name);
  }
}

function pace(hour, open, each, today = 0) {
  const parts = hour ? [`${thousands(hour)} this hour`] : [];
  if (today > hour) parts.push(`${thousands(today)} today`);
  if (each && open > 0) parts.push(`${duration(open * each)} left`);
  return parts.join("  ·  ");
}

// As exact as a forecast is: minutes up to an hour, then quarters of an hour.
function duration(seconds) {
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `about ${minutes} min`;
  const quarters = Math.round(minutes / 15);
  const [hours, rest] = [Math.floor(quarters / 4), (quarters % 4) * 15];
  return `about ${hours} h${rest ? ` ${rest} min` : ""}`;
}
