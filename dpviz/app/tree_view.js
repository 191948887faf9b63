// The tree drawing in the dashboard: zoom, pan, click, keyboard. The drawing itself is made in Python (dpviz/charts/tree/svg.py).
//
// Streamlit calls the default export again whenever data or theme change, on the same elements; everything that must outlive
// a rerun therefore stands in a View kept beside its element, and where it was looking in `memory`, beside the widget's key.

const NARROW = 520, SHORTEST = 340, SMALLEST = 0.2, LARGEST = 3, STEP = 1.25;
const READABLE = 0.93, ROOMY = 1.4;  // of a fitted tree: its text has 13 pixels at least, and a wide screen is used
const ABOVE = 330;  // pixels that a window needs for what is above and below the frame
const views = new WeakMap();
const memory = new Map();

export default function ({ data, parentElement, setTriggerValue }) {
  const element = parentElement.querySelector(".view");
  if (!views.has(element)) views.set(element, new View(element, parentElement));
  const view = views.get(element);
  view.report = (id) => setTriggerValue("clicked", id);
  view.show(data);
  return () => { view.close(); views.delete(element); };
}

class View {
  constructor(element, root) {
    this.element = element;
    this.root = root;
    this.stage = element.querySelector(".stage");
    this.level = element.querySelector("output");
    this.dragged = false;
    this.drawings = new Map();
    this.measured = element.querySelector(".measured");
    this.follow = (event) => this.stepTo(event.detail);
    window.addEventListener("dpviz-epsilon", this.follow);
    this.element.querySelector(".zoom").addEventListener("click", (event) => this.press(event));
    this.stage.addEventListener("click", (event) => this.click(event));
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.stage.addEventListener("pointerdown", (event) => this.grab(event));
    this.stage.addEventListener("scroll", () => this.remember(), { passive: true });
    this.resized = new ResizeObserver(() => this.lay());
    this.resized.observe(this.element);
  }

  close() {
    this.resized.disconnect();
    window.removeEventListener("dpviz-epsilon", this.follow);
  }

  // --- what is shown ---------------------------------------------------------------------------------------------------

  show(data) {
    const asked = !this.data || data.selected !== this.data.selected;
    if (data.epsilon !== this.data?.epsilon || data.epsilon === this.at?.value) this.at = undefined;  // else: still being dragged
    this.data = data;
    if (asked) this.chosen = data.selected;
    this.lay();
    this.dress();
    this.climb();
  }

  // --- the path: the tree at other epsilons, without asking the server -------------------------------------------------

  async climb() {
    const text = this.data.steps;
    if (text !== this.packed) {
      this.packed = text;
      const steps = text ? await unpacked(text) : [];
      if (text !== this.packed) return;
      this.steps = steps;
      this.element.dataset.steps = steps.length;
      this.drawings.clear();
    }
    if (!this.at) this.say(this.data.said);
  }

  stepOf(epsilon) { return this.steps?.find(({ value }) => value === epsilon); }

  // Epsilon is being dragged; until the path is there, only the epsilon itself is known.
  stepTo(epsilon) {
    const step = this.stepOf(epsilon);
    this.measured.classList.toggle("unknown", !step);
    if (!step) return;
    this.at = step;
    this.lay();  // first: what is said changes the page, which would have to be laid out for the width alone
    this.say({ ...step.said, mark: this.data.said.mark }, step);
    // after every other view has heard of the drag
    queueMicrotask(() => window.dispatchEvent(new CustomEvent("dpviz-guarantee", { detail: step.guarantee })));
  }

  // The measure of the tree, and beside it that of the draws.
  say(said, step) {
    this.measured.hidden = !said?.lead;
    if (!said) return;
    this.sayMeasured(said, step);
    if (said.mark) this.element.querySelector(".field").dataset.mark = said.mark;
    if (step) queueMicrotask(() => window.dispatchEvent(new CustomEvent("dpviz-split", { detail: step.split })));
    const [survives, shape] = this.element.querySelector(".survives").children;
    survives.textContent = (step ?? said).survives ?? "";
    const next = (step ?? said).shape ?? "", jumped = Boolean(this.at && this.rule && next !== this.rule);
    shape.textContent = jumped ? `The public rule changes here: ${next}.` : next && `${next[0].toUpperCase()}${next.slice(1).replace(/,.*/, "")}.`;
    shape.classList.toggle("changed", jumped);
    this.rule = next;
  }

  sayMeasured(said, step) {
    if (!said.lead) return;
    this.measured.classList.remove("unknown");
    for (const part of ["lead", "tested", "spread", "besides"]) this.measured.querySelector(`.${part}`).textContent = said[part] ?? "";
    this.measured.querySelector(".strip").replaceChildren(drawing(step?.strip ?? said.strip));
    this.measured.setAttribute("aria-label", step?.words ?? "");
  }

  // Draws when the drawing or the room for it has changed; a tree of the same shape keeps its zoom, place and focus.
  lay() {
    const width = this.element.clientWidth;
    if (!width || !this.data) return;
    const { narrow, wide } = this.at ?? this.data;
    const text = width < NARROW ? narrow : wide;
    if (text !== this.text) this.draw(text);
    else if (this.fitted && width !== this.width) this.fit(this.left, this.top);
    this.width = width;
  }

  draw(text) {
    const focused = this.svg?.contains(this.root.activeElement) ? this.root.activeElement : undefined;
    const held = focused && place(focused);
    const before = new Map((this.nodes ?? []).map((node) => [place(node), corner(node)]));
    this.svg = this.at ? this.again(text) : drawing(text);
    this.svg.setAttribute("aria-describedby", "hint");
    const style = this.svg.querySelector("style");
    if (style) this.style = style;
    else if (this.style) this.svg.prepend(this.style.cloneNode(true));
    this.text = text;
    this.size = { width: this.svg.viewBox.baseVal.width, height: this.svg.viewBox.baseVal.height };
    this.stage.replaceChildren(this.svg);
    this.nodes = [...this.svg.querySelectorAll("[data-path]")];
    if (this.at) {  // on the way from one step to another the zoom stays, and the frame does not shrink
      const { fitted, left, top } = this;
      this.zoomTo(this.scale, left, top);
      if (fitted && this.across() < this.scale) this.zoomTo(this.across(), left, top);
      this.fitted = fitted;
      this.dress();
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) move(this.svg, before);
      return;
    }
    const shape = this.nodes.map((node) => node.dataset.path).join(" ") + this.svg.dataset.layout;
    const last = memory.get(this.data.key);
    const kept = last?.shape === shape ? last : undefined;
    this.shape = shape;
    this.fit(kept?.left, kept?.top);
    if (kept && !kept.fitted) this.zoomTo(kept.scale, kept.left, kept.top);
    this.dress();
    if (held) (this.nodes.find((node) => place(node) === held) ?? this.nodes[0]).focus({ preventScroll: true });
  }

  // While epsilon is dragged, each drawing comes again and again.
  again(text) {
    if (!this.drawings.has(text)) this.drawings.set(text, drawing(text));
    return this.drawings.get(text).cloneNode(true);
  }

  // Theme, selection, and the one node the Tab key reaches.
  dress() {
    if (!this.svg) return;
    this.svg.dataset.theme = isDark(this.stage) ? "dark" : "light";
    for (const node of this.nodes) node.setAttribute("aria-selected", String(node.dataset.path === this.chosen));
    for (const edge of this.svg.querySelectorAll("[data-to]")) {
      edge.classList.toggle("on", `${this.chosen}.`.startsWith(`${edge.dataset.to}.`));
    }
    const held = this.svg.contains(this.root.activeElement) ? this.root.activeElement : undefined;
    for (const kin of new Set(this.nodes.map(tree))) {
      const nodes = this.nodes.filter((node) => tree(node) === kin);
      this.rove(nodes.find((node) => node === held) ?? nodes.find((node) => node.dataset.path === this.chosen) ?? nodes[0]);
    }
  }

  // One node of each tree is reached by the Tab key; two trees may stand side by side.
  rove(node) {
    for (const other of this.kin(node)) other.setAttribute("tabindex", other === node ? "0" : "-1");
  }

  kin(node) { return this.nodes.filter((other) => tree(other) === tree(node)); }

  // --- zoom and pan ----------------------------------------------------------------------------------------------------

  // The whole tree where its text stays readable, else its full width. Where trees change, the frame is as high for all of them:
  // nothing below it jumps.
  fit(left = 0, top = 0) {
    const across = this.across();
    const tallest = this.tallest();
    const whole = Math.min(across, (tallest - 4) / this.size.height);
    const scale = whole >= READABLE ? whole : Math.min(across, 1);
    const changes = this.data.height || this.data.epsilon !== null;
    this.stage.style.height = `${Math.ceil(changes ? tallest : Math.min(tallest, scale * this.size.height + 4))}px`;
    const again = clamp((this.stage.clientWidth - 1) / this.size.width, SMALLEST, scale);  // a scroll bar may have come
    this.zoomTo(again, left, top);
    this.fitted = true;
    this.remember();
  }

  // The zoom at which the drawing is as wide as the frame.
  across() { return clamp((this.stage.clientWidth - 2) / this.size.width, SMALLEST, ROOMY); }

  tallest() { return this.data.height || Math.max(window.innerHeight - ABOVE, SHORTEST); }

  zoomTo(scale, left, top) {
    this.scale = clamp(scale, SMALLEST, LARGEST);
    this.fitted = false;
    this.svg.setAttribute("width", this.size.width * this.scale);
    this.svg.setAttribute("height", this.size.height * this.scale);
    this.stage.scrollTo({ left, top, behavior: "instant" });
    this.level.textContent = `${Math.round(this.scale * 100)}%`;
    this.remember();
  }

  // Zooms so that what lies in the middle of the frame stays there.
  zoomBy(factor) {
    const scale = clamp(this.scale * factor, SMALLEST, LARGEST), ratio = scale / this.scale;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.stage;
    const beside = Math.max(0, (clientWidth - this.size.width * this.scale) / 2);  // a narrower drawing stands in the middle
    const middle = (place, size) => (place + size / 2) * ratio - size / 2;
    this.zoomTo(scale, middle(scrollLeft - beside, clientWidth), middle(scrollTop, clientHeight));
  }

  remember() {
    if (this.scale === undefined || !this.data) return;
    this.left = this.stage.scrollLeft;
    this.top = this.stage.scrollTop;
    const { shape, scale, left, top, fitted } = this;
    memory.set(this.data.key, { shape, scale, left, top, fitted });
  }

  press(event) {
    const what = event.target.closest("button")?.dataset.zoom;
    if (what === "fit") this.fit();
    else if (what) this.zoomBy(what === "in" ? STEP : 1 / STEP);
  }

  // Fingers scroll the frame by themselves; a mouse or pen drags it.
  grab(event) {
    this.dragged = false;
    if (event.pointerType === "touch" || event.button !== 0) return;
    const { clientX: x, clientY: y, pointerId } = event;
    const { scrollLeft, scrollTop } = this.stage;
    const move = (at) => {
      if (!this.dragged && Math.hypot(at.clientX - x, at.clientY - y) < 5) return;
      if (!this.dragged) this.stage.setPointerCapture(pointerId);
      this.dragged = true;
      this.stage.classList.add("dragging");
      this.stage.scrollTo({ left: scrollLeft + x - at.clientX, top: scrollTop + y - at.clientY, behavior: "instant" });
    };
    const stop = () => {
      this.stage.removeEventListener("pointermove", move);
      this.stage.classList.remove("dragging");
    };
    this.stage.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) this.stage.addEventListener(end, stop, { once: true });
  }

  // --- choosing --------------------------------------------------------------------------------------------------------

  click(event) {
    if (this.dragged) return;
    const node = event.target.closest("[data-path]");
    if (node) this.choose(node);
  }

  choose(node) {
    this.chosen = node.dataset.path;
    node.focus({ preventScroll: true });
    this.dress();
    this.report(this.chosen);
  }

  key(event) {
    const node = event.target.closest("[data-path]");
    if (!node || event.altKey || event.ctrlKey || event.metaKey) return;
    const chooses = event.key === "Enter" || event.key === " ";
    const next = chooses ? undefined : this.next(node, event.key);
    if (!chooses && next === undefined) return;
    event.preventDefault();
    if (chooses) this.choose(node);
    else if (next) this.go(next);
  }

  // The node a key leads to; null where there is none, undefined for a key that means nothing here.
  next(node, key) {
    const id = node.dataset.path, nodes = this.kin(node), at = nodes.indexOf(node);
    const named = (path) => nodes.find((other) => other.dataset.path === path);
    const parent = named(id.slice(0, id.lastIndexOf(".")));
    const child = named(`${id}.L`);
    const level = nodes.filter((other) => other.ariaLevel === node.ariaLevel);
    const beside = (step) => level[level.indexOf(node) + step];
    const outline = this.svg.dataset.layout === "narrow";
    const ways = {
      Home: () => nodes[0],
      End: () => nodes.at(-1),
      ArrowUp: () => (outline ? nodes[at - 1] : parent),
      ArrowDown: () => (outline ? nodes[at + 1] : child),
      ArrowLeft: () => (outline ? parent : beside(-1)),
      ArrowRight: () => (outline ? child : beside(+1)),
    };
    return Object.hasOwn(ways, key) ? ways[key]() ?? null : undefined;
  }

  go(node) {
    this.rove(node);
    node.focus({ preventScroll: true });
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    node.scrollIntoView({ block: "nearest", inline: "nearest", behavior: still ? "instant" : "smooth" });
  }
}

// The drawing as elements. It is escaped where it is made; scripts, handlers and links are taken out here all the same.
function drawing(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const svg = parsed.documentElement;
  if (svg.localName !== "svg" || parsed.querySelector("parsererror")) throw new Error("The tree drawing is not valid SVG.");
  disarm(svg);
  svg.querySelector(":scope > title")?.remove();  // it would follow the pointer everywhere; the label says the same
  return document.importNode(svg, true);
}

function disarm(root) {
  for (const banned of root.querySelectorAll("script, foreignObject, a, image, img, use, iframe, form")) banned.remove();
  for (const element of [root, ...root.querySelectorAll("*")]) {
    for (const { name } of [...element.attributes]) if (/^on|href$/i.test(name)) element.removeAttribute(name);
  }
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function tree(node) { return node.closest("[role=tree]"); }

// Which of two trees a node is in, and where.
function place(node) { return `${tree(node)?.dataset.side ?? "now"} ${node.dataset.path}`; }

function corner(node) {
  const { x, y } = node.querySelector(".box");
  return { x: x.baseVal.value, y: y.baseVal.value };
}

// Nodes glide from where they stood before; what is new appears.
function move(svg, before) {
  const timing = { duration: 140, easing: "ease-out" };
  for (const node of svg.querySelectorAll("[data-path]")) {
    const old = before.get(place(node)), now = corner(node);
    const from = old ? { transform: `translate(${old.x - now.x}px, ${old.y - now.y}px)` } : { opacity: 0 };
    node.animate([from, {}], timing);
  }
  for (const edge of svg.querySelectorAll("[data-to]")) edge.animate([{ opacity: 0 }, {}], timing);
}

function isDark(element) {
  const channels = getComputedStyle(element).backgroundColor.match(/[\d.]+/g)?.map(Number) ?? [255, 255, 255];
  return 0.299 * channels[0] + 0.587 * channels[1] + 0.114 * channels[2] < 128;
}

function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
