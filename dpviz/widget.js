// The tree and its control of epsilon in Jupyter and marimo. TREE, SLIDER and LINE are functions that give the dashboard's own views;
// each widget has an event bus of its own in place of the window, so that two on one page do not follow each other.
// FACES are the letters that boxes were measured for, by weight: a notebook's own may be half as wide again.

// A frame as high as the window would be half empty under a small tree: `height` is that of the largest drawing, and what is around it.
function busOf(height) {
  const bus = new EventTarget();
  return {
    addEventListener: (...how) => bus.addEventListener(...how),
    removeEventListener: (...how) => bus.removeEventListener(...how),
    dispatchEvent: (event) => bus.dispatchEvent(event),
    get innerHeight() { return Math.min(globalThis.innerHeight, 860, height + 350); },
  };
}

function addLetters() {
  if ([...document.fonts].some(({ family }) => family.replaceAll('"', "") === LETTERS)) return;
  for (const [weight, source] of Object.entries(FACES)) document.fonts.add(new FontFace(LETTERS, source, { weight }));
}

function render({ model, el }) {
  addLetters();
  // Without it Jupyter takes arrow keys and digits for its own shortcuts: they would leave the control and move or change cells.
  el.dataset.lmSuppressShortcuts = "true";
  const root = el.attachShadow({ mode: "open" });
  root.innerHTML = model.get("page");
  const { views, slider, line, height } = model.get("shown");
  const bus = busOf(height);
  const places = (name) => root.querySelector(`.${name}`);
  const ended = [TREE(bus)({ data: views, parentElement: places("tree"), setTriggerValue: () => {} })];
  if (slider) {
    ended.push(LINE(bus)({ data: line, parentElement: places("line") }));
    const at = (epsilon) => slider.steps.reduce((best, step, k) =>
      Math.abs(Math.log(step / epsilon)) < Math.abs(Math.log(slider.steps[best] / epsilon)) ? k : best, 0);
    const show = SLIDER(bus);
    const choose = (_, epsilon) => {
      const step = at(epsilon), value = slider.steps[step];
      bus.dispatchEvent(new CustomEvent("dpviz-epsilon", { detail: value }));
      ended[2] = show({ data: { ...slider, at: step, epsilon: value }, parentElement: places("slider"), setTriggerValue: choose });
      model.set("epsilon", value);
      model.save_changes();
    };
    ended.push(show({ data: slider, parentElement: places("slider"), setTriggerValue: choose }));
  }
  return () => ended.forEach((end) => end());
}

export default { render };
