// When the lesson changes, show its head. The first one stays where the visitor is.
let shown = null;

export default function ({ data }) {
  if (shown !== null && shown !== data.lesson) {
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 });
  }
  shown = data.lesson;
}
