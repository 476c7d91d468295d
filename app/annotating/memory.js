// What this browser keeps for one annotator of one project. Storage that is full or forbidden keeps nothing, and
// nothing here depends on it: it only makes a reload lose less.

export class Memory {
  constructor(prefix) {
    this.prefix = `${prefix}:`;
  }

  get(name) {
    try {
      return JSON.parse(localStorage.getItem(this.prefix + name));
    } catch {
      return null;
    }
  }

  // Whether it is kept.
  set(name, value) {
    try {
      localStorage.setItem(this.prefix + name, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  }

  remove(name) {
    try {
      localStorage.removeItem(this.prefix + name);
    } catch { /* nothing was kept */ }
  }

  // All values whose names begin so.
  all(start) {
    try {
      const names = Object.keys(localStorage).filter((name) => name.startsWith(this.prefix + start));
      return names.map((name) => this.get(name.slice(this.prefix.length))).filter(Boolean);
    } catch {
      return [];
    }
  }
}
