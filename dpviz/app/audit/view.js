// Shows a fragment made in Python (dpviz/figures/audit/html.py) and reports the data-key of what is chosen in it.

export default function ({ data, parentElement, setTriggerValue }) {
  const element = parentElement.querySelector(".dpa");
  if (element.dataset.shown !== data.markup) {
    const root = parentElement.getRootNode();
    const focused = (root.activeElement || document.activeElement)?.dataset?.key;
    const open = [...element.querySelectorAll("details[open]")].map((details) => details.dataset.name);
    element.innerHTML = data.markup;
    for (const details of element.querySelectorAll("details")) details.open ||= open.includes(details.dataset.name);
    element.dataset.shown = data.markup;
    if (focused) element.querySelector(`button[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
  element.onclick = (event) => {
    const place = event.target.closest("[data-key]");
    if (place) setTriggerValue("chosen", place.dataset.key);
  };
}
