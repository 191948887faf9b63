// Marks where a page uses a term of the glossary first. The page's own elements are left as they are: places in its text are highlighted,
// for React would stumble over elements that it did not make. For fingers and keyboards the same words are listed below.

const QUIET = 400, SKIPPED = "code, pre, svg, input, textarea, button, script, style, [role=tab], [data-testid=stHeading]";
const shown = new WeakMap();

export default function ({ data, parentElement }) {
  const element = parentElement.querySelector(".words");
  if (!shown.has(element)) shown.set(element, new Words(element, data.entries));
  const words = shown.get(element);
  words.later();
  return () => { words.close(); shown.delete(element); };
}

class Words {
  constructor(element, entries) {
    this.element = element;
    this.tip = element.querySelector(".tip");
    this.entries = entries.map(({ forms, said }) => ({ term: forms[0], said, pattern: pattern(forms) }));
    this.marked = [];
    this.main = document.querySelector("[data-testid=stMain]") ?? document.body;
    this.seen = new MutationObserver(() => this.later());
    this.seen.observe(this.main, { childList: true, subtree: true, characterData: true });
    this.point = (event) => this.explain(event);
    document.addEventListener("pointermove", this.point, { passive: true });
  }

  close() {
    clearTimeout(this.waiting);
    this.seen.disconnect();
    document.removeEventListener("pointermove", this.point);
    CSS.highlights?.delete("dpviz-term");
  }

  later() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.mark(), QUIET);
  }

  mark() {
    const open = new Set(this.entries);
    this.marked = [];
    const texts = document.createTreeWalker(this.main, NodeFilter.SHOW_TEXT, (node) =>
      node.parentElement.closest(SKIPPED) || this.element.contains(node) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    while (open.size && texts.nextNode()) {
      const node = texts.currentNode;
      for (const entry of open) {
        const found = entry.pattern.exec(node.data);
        if (!found) continue;
        const range = new Range();
        range.setStart(node, found.index);
        range.setEnd(node, found.index + found[0].length);
        this.marked.push({ ...entry, range });
        open.delete(entry);
      }
    }
    if (globalThis.Highlight) CSS.highlights.set("dpviz-term", new Highlight(...this.marked.map(({ range }) => range)));
    this.list();
  }

  list() {
    const terms = this.marked.map(({ term }) => term).join();
    if (terms === this.terms) return;
    this.terms = terms;
    const parts = this.marked.flatMap(({ term, said }) => [made("dt", term), made("dd", said)]);
    this.element.querySelector("dl").replaceChildren(...parts);
    this.element.querySelector("details").hidden = !parts.length;
  }

  explain({ clientX: x, clientY: y, pointerType }) {
    const inside = ({ range }) => [...range.getClientRects()].some((box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
    const found = pointerType === "touch" ? undefined : this.marked.find(inside);
    this.tip.hidden = !found;
    if (!found) return;
    this.tip.textContent = found.said;
    const { width, height } = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`;
    this.tip.style.top = `${y + 20 + height > innerHeight ? y - height - 12 : y + 20}px`;
  }
}

function made(kind, words) {
  const element = document.createElement(kind);
  element.textContent = words;
  return element;
}

// Whole words; those in capitals, and letters, as they are written.
function pattern(forms) {
  const plain = forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const exact = forms.every((form) => form === form.toUpperCase());
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${plain.join("|")})s?(?![\\p{L}\\p{N}])`, exact ? "u" : "iu");
}
