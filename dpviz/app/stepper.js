// Goes through draws, one step or played: what `draws_view.js` and `resampling.js` share. It stands before their text.
//
// Streamlit calls the default export again whenever data or theme change, on the same elements. What outlives that stands in a
// View beside its element. Play is off at first, and is left out where less motion is asked for. `data.said` has the words of
// every draw; a View shows the draw it is at (`mark`), or none (at = -1).

const views = new WeakMap();

function follow(selector, View) {
  return ({ data, parentElement }) => {
    const element = parentElement.querySelector(selector);
    if (!views.has(element)) views.set(element, new View(element));
    const view = views.get(element);
    view.show(data);
    return () => { view.close(); views.delete(element); };
  };
}

class Stepper {
  constructor(element, pause) {
    this.element = element;
    this.pauseBetween = pause;
    this.at = -1;
    this.stage = element.querySelector(".stage");
    this.said = element.querySelector(".said");
    this.buttons = Object.fromEntries([...element.querySelectorAll("button")].map((button) => [button.dataset.do, button]));
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.onCalm = () => this.dress();
    this.calm.addEventListener("change", this.onCalm);
    element.querySelector(".bar").addEventListener("click", (event) => this.press(event));
  }

  close() {
    this.halt();
    this.calm.removeEventListener("change", this.onCalm);
  }

  press(event) {
    const action = event.target.closest("button")?.dataset.do;
    if (!action) return;
    const starts = action === "play" && !this.timer;
    this.halt();
    if (starts) this.timer = setInterval(() => this.move(1), this.pauseBetween);
    if (action === "step" || starts) this.move(1);
    else if (action === "back") this.move(-1);
    else if (action === "clear") this.put(-1);
    else this.dress();
  }

  move(by) { this.put((this.at + by + this.data.said.length) % this.data.said.length); }

  put(at) {
    this.at = at;
    this.mark();
    this.dress();
  }

  get words() { return this.data?.said[this.at] ?? ""; }

  halt() {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  // While it plays a screen reader is left in peace; a step is read out.
  dress() {
    const { play } = this.buttons;
    if (this.calm.matches) this.halt();
    this.said.setAttribute("aria-live", this.timer ? "off" : "polite");
    this.said.textContent = this.words;
    play.hidden = this.calm.matches;
    play.textContent = this.timer ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(Boolean(this.timer)));
    this.element.querySelector(".calm").hidden = !this.calm.matches;
  }
}

