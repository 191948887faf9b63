// What is guaranteed of the tree on screen; while epsilon is dragged, of the tree that is on screen then.

export default function ({ data, parentElement }) {
  const line = parentElement.querySelector(".guarantee"), come = JSON.stringify(data);
  const say = ({ kind, words }) => {
    line.className = `guarantee ${kind}`;
    line.firstElementChild.textContent = words;
  };
  line.heard?.abort();
  const heard = line.heard = new AbortController();
  const hear = (name, told) => window.addEventListener(name, ({ detail }) => told(detail), { signal: heard.signal });
  hear("dpviz-epsilon", (epsilon) => say({ kind: "", words: data.pending.replace("{}", epsilon) }));
  hear("dpviz-guarantee", say);
  if (come !== line.come) say(data);  // what comes again while epsilon is dragged changes nothing
  line.come = come;
  return () => heard.abort();
}
