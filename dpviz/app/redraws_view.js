// Steps through drawings made in Python, one tree per fresh draw. Off at first; Play is left out where less motion is asked for.

const PAUSE = 1000;
const views = new WeakMap();

export default function ({ data, parentElement }) {
  const element = parentElement.querySelector(".redraws");
  if (!views.has(element)) views.set(element, new View(element));
  const view = views.get(element);
  view.show(data);
  return () => { view.close(); views.delete(element); };
}

class View {
  constructor(element) {
    this.element = element;
    this.stage = element.querySelector(".stage");
    this.said = element.querySelector(".said");
    this.buttons = Object.fromEntries([...element.querySelectorAll("button")].map((button) => [button.dataset.do, button]));
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.onCalm = () => this.dress();
    this.calm.addEventListener("change", this.onCalm);
    element.querySelector(".bar").addEventListener("click", (event) => this.press(event));
  }

  close() {
    this.pause();
    this.calm.removeEventListener("change", this.onCalm);
  }

  show(data) {
    if (JSON.stringify(data.said) === JSON.stringify(this.data?.said)) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.data = data;
    this.go(0);
  }

  go(at) {
    this.at = (at + this.data.said.length) % this.data.said.length;
    this.stage.innerHTML = this.data.drawings[this.at];
    this.stage.setAttribute("aria-label", this.data.said[this.at]);
    for (const place of this.stage.querySelectorAll("[tabindex]")) place.removeAttribute("tabindex");
    this.dress();
  }

  press(event) {
    const action = event.target.closest("button")?.dataset.do;
    if (action === "back") { this.pause(); this.go(this.at - 1); }
    if (action === "step") { this.pause(); this.go(this.at + 1); }
    if (action === "play") this.timer ? this.pause() : this.play();
  }

  play() {
    this.timer = setInterval(() => this.go(this.at + 1), PAUSE);
    this.go(this.at + 1);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.dress();
  }

  // While it plays a screen reader is left in peace; a step is read out.
  dress() {
    const calm = this.calm.matches, { play } = this.buttons;
    if (calm && this.timer) { clearInterval(this.timer); this.timer = undefined; }
    this.said.setAttribute("aria-live", this.timer ? "off" : "polite");
    this.said.textContent = this.data.said[this.at];
    play.hidden = calm;
    play.textContent = this.timer ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(Boolean(this.timer)));
    this.element.querySelector(".calm").hidden = !calm;
  }
}
