// The palette: Ctrl K, or its button, opens a field that finds pages by their names, and for who may see them
// queries, documents and people by words. Arrows choose, Enter goes there, Escape closes.

const REST = 150; // ms without a key, before the server is asked

export function go(address) {
  history.pushState({}, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}

const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

// The pages that have all the words, with what the server found: titles that are the text first, then titles that begin
// with it.
export function matching(pages, text, found = []) {
  const words = wordsOf(text);
  const sought = words.join(" ");
  const fits = pages.filter(({ title, about }) => words.every((word) => `${title} ${about}`.toLowerCase().includes(word)));
  const rank = ({ title }) => {
    const name = wordsOf(title).join(" ");
    return name === sought ? 0 : name.startsWith(sought) ? 1 : 2;
  };
  return [...fits, ...found].sort((one, other) => rank(one) - rank(other));
}

export class Palette {
  constructor(root) {
    this.dialog = root.querySelector("dialog");
    this.field = root.querySelector("input");
    this.list = root.querySelector("ul");
    this.said = root.querySelector("p");
    this.field.addEventListener("input", () => this.#search());
    this.dialog.addEventListener("keydown", (event) => this.#key(event));
    this.dialog.addEventListener("click", (event) => {
      const option = event.target.closest("li");
      if (option) this.#choose(Number(option.dataset.place));
      else if (event.target === this.dialog) this.dialog.close();
    });
  }

  open() {
    if (this.dialog.open) return;
    this.field.value = "";
    this.dialog.showModal();
    this.#search();
  }

  async #search() {
    const text = this.field.value.trim();
    this.#draw(matching(this.pages, text));
    clearTimeout(this.rest);
    if (!this.searches || !text) return;
    this.rest = setTimeout(async () => {
      let found = [];
      try {
        const answer = await fetch(`/api/palette?words=${encodeURIComponent(text)}`);
        found = answer.ok ? await answer.json() : [];
      } catch {
        // without a server the pages are still there
      }
      if (text !== this.field.value.trim()) return;
      const entries = matching(this.pages, text, found);
      this.#draw(entries, Math.max(0, this.place && entries.indexOf(this.entries[this.place])));
    }, REST);
  }

  #draw(entries, place = 0) {
    this.entries = entries;
    this.list.replaceChildren(...entries.map(({ title, about }, number) => {
      const option = document.createElement("li");
      option.id = `goes-${number}`;
      option.dataset.place = number;
      option.setAttribute("role", "option");
      const [name, kind] = [document.createElement("span"), document.createElement("small")];
      name.dir = "auto";
      name.textContent = title;
      kind.textContent = about;
      option.append(name, kind);
      return option;
    }));
    this.said.textContent = entries.length ? "" : "No matches.";
    this.#mark(Math.min(place, Math.max(0, entries.length - 1)));
  }

  #mark(place) {
    this.place = place;
    [...this.list.children].forEach((option, number) => option.setAttribute("aria-selected", String(number === place)));
    const chosen = this.list.children[place];
    if (chosen) this.field.setAttribute("aria-activedescendant", chosen.id);
    else this.field.removeAttribute("aria-activedescendant");
    this.field.setAttribute("aria-expanded", String(Boolean(chosen)));
    chosen?.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    event.stopPropagation(); // no key of the page behind it
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.entries.length) this.#mark((this.place + step + this.entries.length) % this.entries.length);
    else if (event.key === "Enter" && !event.isComposing) this.#choose(this.place);
    else return;
    event.preventDefault();
  }

  #choose(place) {
    const chosen = this.entries[place];
    if (!chosen) return;
    this.dialog.close();
    go(chosen.address);
  }
}
