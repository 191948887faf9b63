// The split of ε as a bar (drawn in Python, dpviz/charts/budget.py) with a grip between two parts whose shares can be moved.
// While a grip is dragged only the bar moves; the shares go to the server once it is let go, or a moment after a key.

const LEAST = 0.01, ROOM = 32, STEP = 0.01, PAGE = 0.1, PAUSE = 400;
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const element = parentElement.querySelector(".holder");
  if (!views.has(element)) views.set(element, new Bar(element));
  const view = views.get(element);
  view.send = setTriggerValue;
  view.show(data);
  return () => { view.close(); views.delete(element); };
}

class Bar {
  constructor(element) {
    this.element = element;
    this.drawn = element.querySelector(".drawn");
    this.grips = element.querySelector(".grips");
    this.rule = element.querySelector(".rule");
    this.rule.addEventListener("click", () => this.send("rule", true));
    this.follow = (event) => { if (!this.held) this.draw(event.detail); };
    window.addEventListener("dpviz-split", this.follow);
    this.resized = new ResizeObserver(() => this.place());
    this.resized.observe(element);
  }

  close() {
    clearTimeout(this.waiting);
    this.resized.disconnect();
    window.removeEventListener("dpviz-split", this.follow);
  }

  show(data) {
    this.data = data;
    if (this.held || this.waiting) return;
    this.shares = [...data.shares];
    this.rule.hidden = !data.byHand;
    this.element.querySelector("output").textContent = "";
    this.draw(data.html);
  }

  // The bar with its legend; its grips keep the focus.
  draw(html) {
    const { body } = new DOMParser().parseFromString(html, "text/html");
    for (const banned of body.querySelectorAll("script, a, img, iframe, form, object, embed")) banned.remove();
    this.drawn.replaceChildren(...[...body.childNodes].map((node) => document.importNode(node, true)));
    this.bar = this.drawn.querySelector(".bar");
    this.pieces = undefined;
    const wanted = this.bar ? Math.max(0, this.shares.length - 1) : 0;
    while (this.grips.children.length > wanted) this.grips.lastChild.remove();
    while (this.grips.children.length < wanted) this.grips.append(this.grip(this.grips.children.length));
    this.place();
  }

  grip(at) {
    const grip = document.createElement("div");
    grip.className = "grip";
    grip.tabIndex = 0;
    grip.setAttribute("role", "slider");
    grip.setAttribute("aria-valuemin", 1);
    grip.setAttribute("aria-valuemax", 99);
    grip.addEventListener("pointerdown", (event) => this.grab(event, at, grip));
    grip.addEventListener("keydown", (event) => this.key(event, at));
    return grip;
  }

  // Where the boundary at the right end of a part is, as a share of the movable width.
  edge(at) { return this.shares.slice(0, at + 1).reduce((sum, share) => sum + share, 0); }

  place() {
    if (!this.bar) return;
    const bar = this.bar.getBoundingClientRect(), home = this.element.getBoundingClientRect();
    this.span = bar.width * this.data.width / 100;
    this.grips.hidden = this.span < ROOM * this.shares.length;  // fingers need room; weights can be typed under More
    [...this.grips.children].forEach((grip, at) => {
      const [left, right] = this.data.names.slice(at, at + 2), percent = (place) => `${Math.round(100 * this.shares[place])}%`;
      grip.style.left = `${bar.left - home.left + this.span * this.edge(at)}px`;
      grip.style.top = `${bar.top - home.top}px`;
      grip.setAttribute("aria-label", `Shares of ${left} and ${right}`);
      grip.setAttribute("aria-valuenow", Math.round(100 * this.edge(at)));
      grip.setAttribute("aria-valuetext", `${left} ${percent(at)}, ${right} ${percent(at + 1)}`);
      grip.title = "Drag to move ε from one part to the other.";
    });
  }

  // Moves a boundary; what lies between it and its neighbours is drawn narrower or wider.
  move(at, edge) {
    const before = at ? this.edge(at - 1) : 0, after = this.edge(at + 1);
    const to = Math.min(after - LEAST, Math.max(before + LEAST, edge));
    if (!this.pieces) {
      const bar = this.bar.getBoundingClientRect();
      this.pieces = [...this.bar.children].map((piece) => {
        const { left, width } = piece.getBoundingClientRect(), middle = (left + width / 2 - bar.left) / this.span;
        const part = this.shares.findIndex((_, place) => middle < this.edge(place));
        return { piece, part, width: parseFloat(piece.style.width) / (this.shares[part] || 1) };
      });
    }
    this.shares[at] = to - before;
    this.shares[at + 1] = after - to;
    for (const { piece, part, width } of this.pieces) if (part >= 0) piece.style.width = `${width * this.shares[part]}%`;
    this.place();
    this.element.querySelector("output").textContent = this.grips.children[at].getAttribute("aria-valuetext");
  }

  grab(event, at, grip) {
    if (event.button) return;
    event.preventDefault();
    grip.focus();
    grip.setPointerCapture(event.pointerId);
    this.held = true;
    const from = event.clientX, edge = this.edge(at);
    const drag = (moved) => this.move(at, edge + (moved.clientX - from) / this.span);
    const stop = (ended) => {
      this.held = false;
      grip.removeEventListener("pointermove", drag);
      if (ended.type === "pointerup" && ended.clientX !== from) this.choose(0);
      else this.show(this.data);
    };
    grip.addEventListener("pointermove", drag);
    for (const end of ["pointerup", "pointercancel"]) grip.addEventListener(end, stop, { once: true });
  }

  key(event, at) {
    const steps = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, PageDown: -PAGE, PageUp: PAGE, Home: -1, End: 1 };
    if (!Object.hasOwn(steps, event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.move(at, this.edge(at) + steps[event.key]);
    this.choose(PAUSE);
  }

  choose(pause) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = undefined;
      this.send("shares", this.shares.map((share) => Math.round(1e4 * share) / 1e4));
    }, pause);
  }
}
