// Since when something has been on screen, and for how long. Keys count only on what has been
// seen; time in another window or tab is not time spent on an item.

const SEEN = 150; // ms on screen before an answer counts: nobody reads faster

export class Sight {
  // Something new is on screen; `before` is the sight of an earlier time on screen.
  begin(before = { active: 0 }) {
    const glance = {};
    this.glance = glance;
    this.at = undefined;
    this.since = undefined;
    this.spent = before.active;
    this.shownAt = before.shownAt;
    // It counts as seen only from the frame in which it was drawn.
    requestAnimationFrame(() => setTimeout(() => {
      if (this.glance !== glance) return;
      this.at = performance.now();
      this.shownAt ??= new Date().toISOString();
      this.since = document.hidden ? undefined : this.at;
    }));
  }

  get seen() {
    return this.at !== undefined && performance.now() - this.at >= SEEN;
  }

  get active() {
    return Math.round(this.spent + (this.since === undefined ? 0 : performance.now() - this.since));
  }

  // The page was hidden or came back.
  turn() {
    this.spent = this.active;
    this.since = document.hidden || this.at === undefined ? undefined : performance.now();
  }
}
