// What is guaranteed of the tree on screen; while epsilon is dragged, of the tree that is on screen then.

const lines = new WeakMap();

export default function ({ data, parentElement }) {
  const element = parentElement.querySelector(".guarantee");
  if (!lines.has(element)) lines.set(element, new Line(element));
  const line = lines.get(element);
  line.show(data);
  return () => { line.close(); lines.delete(element); };
}

class Line {
  constructor(element) {
    this.element = element;
    this.wait = ({ detail }) => this.say({ kind: "", words: this.data.pending.replace("{}", detail) });
    this.follow = ({ detail }) => this.say(detail);
    window.addEventListener("dpviz-epsilon", this.wait);
    window.addEventListener("dpviz-guarantee", this.follow);
  }

  // What comes again while epsilon is dragged changes nothing.
  show(data) {
    if (JSON.stringify(data) === JSON.stringify(this.data)) return;
    this.data = data;
    this.say(data);
  }

  close() {
    window.removeEventListener("dpviz-epsilon", this.wait);
    window.removeEventListener("dpviz-guarantee", this.follow);
  }

  say({ kind, words }) {
    this.element.className = `guarantee ${kind}`;
    this.element.firstElementChild.textContent = words;
  }
}
