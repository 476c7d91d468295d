// One of many queries: a radio button each, with a bar; a click on its point in the plot chooses it, too. What is chosen
// lives here, and Python hears of it at once; where another filter hides it, both take the first one.

const element = (name, className, text = "") =>
  Object.assign(document.createElement(name), { className, textContent: text });

function row([id, text, length, figure, meaning], name) {
  const line = element("label", meaning.split(" ")[0]);
  const radio = Object.assign(element("input", ""), { type: "radio", name, value: id });
  const words = Object.assign(element("span", "text", text), { dir: "auto", title: text });
  const bar = element("span", "bar");
  const part = element("i", "");
  part.style.insetInlineStart = `${length < 0 ? 50 + 50 * length : 50}%`;
  part.style.inlineSize = `${50 * Math.abs(length)}%`;
  bar.append(part);
  bar.ariaHidden = "true";
  line.append(radio, words, bar, element("span", "figure", figure), element("span", "meaning", meaning));
  return line;
}

class Queries {
  constructor(root, tell) {
    this.root = root;
    this.list = root.querySelector("fieldset");
    this.plot = root.querySelector(".drawing");
    this.list.onchange = ({ target }) => this.choose(target.value);
    this.plot.onclick = ({ target }) => {
      const point = target.closest("[data-key]");
      if (point) this.choose(point.dataset.key, true);
    };
    this.tell = tell;
  }

  take({ legend, svg, bars }) {
    const drawn = JSON.stringify([legend, svg, bars]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const focused = this.list.contains(this.root.activeElement ?? this.list.getRootNode().activeElement);
    this.plot.innerHTML = svg;
    this.plot.hidden = !svg;
    this.list.replaceChildren(element("legend", "", legend), ...bars.map((bar) => row(bar, "query")));
    const chosen = bars.find(([id]) => id === this.chosen)?.[0] ?? bars[0][0];
    this.show(chosen, focused);
  }

  show(id, focused = false) {
    this.chosen = id;
    const radio = [...this.list.querySelectorAll("input")].find((one) => one.value === id);
    if (!radio) return;
    radio.checked = true;
    if (focused) radio.focus({ preventScroll: true });
    for (const point of this.plot.querySelectorAll("[data-key]")) point.classList.toggle("on", point.dataset.key === id);
    const line = radio.parentElement;
    const [top, bottom] = [line.offsetTop - this.list.offsetTop, line.offsetTop - this.list.offsetTop + line.offsetHeight];
    if (top < this.list.scrollTop || bottom > this.list.scrollTop + this.list.clientHeight) {
      this.list.scrollTop = top - this.list.clientHeight / 2;
    }
  }

  choose(id, focused = false) {
    this.show(id, focused);
    this.tell("chosen", id);
  }
}

export default ({ parentElement, data, setStateValue }) => {
  parentElement.queries ??= new Queries(parentElement, setStateValue);
  parentElement.queries.take(data);
};
