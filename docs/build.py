"""Builds the documentation: `python docs/build.py`, or `make docs`. Asks no other computer; a warning is an error.

Pages are those in `docs/`, pages that are elsewhere because people look for them there (`ELSEWHERE`), and pages made from the
code (`docs/generated.py`). They are collected in `build/docs`: a line that is only a link to a CSV file becomes its table
(`docs/tables.py`), a link between two pages leads to the page, one to another file becomes its path. The result is in
`dpviz/manual`, from where it goes into the wheel.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs import generated  # noqa: E402
from docs.tables import fill_tables  # noqa: E402

SOURCE = ROOT / "docs"
COLLECTED = ROOT / "build" / "docs"
BUILT = ROOT / "dpviz" / "manual"
#: Page -> the file it is, in the repository.
ELSEWHERE = {
    "project/changelog.md": "CHANGELOG.md",
    "project/contributing.md": "CONTRIBUTING.md",
    "project/security.md": "SECURITY.md",
    "evidence/differences.md": "data/benchmarks/differences.md",
    "evidence/learners.md": "data/benchmarks/learners.md",
}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```|~~~|:::).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def pages() -> dict[str, str]:
    """Name of each page ("tutorials/patients.md") -> its Markdown, links and all."""
    files = {path.relative_to(SOURCE).as_posix(): path.relative_to(ROOT).as_posix() for path in SOURCE.rglob("*.md")} | ELSEWHERE
    pages_by_file = {file: page for page, file in files.items()} | {f"docs/{page}": page for page in generated.PAGES}
    texts = {page: make() for page, make in generated.PAGES.items()}
    texts |= {page: fill_tables((ROOT / file).read_text(encoding="utf-8"), file) for page, file in files.items()}
    return {page: move_links(text, page, files.get(page, f"docs/{page}"), pages_by_file) for page, text in texts.items()}


def move_links(text: str, page: str, file: str, pages_by_file: dict[str, str]) -> str:
    """The Markdown of `file` with the links that it has as `page`."""
    folder = os.path.dirname(page) or "."

    def move(link: re.Match[str]) -> str:
        bang, words, target = link.groups()
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(file), path))
        if path in pages_by_file:
            return f"[{words}]({os.path.relpath(pages_by_file[path], folder)}{'#' + anchor if anchor else ''})"
        if not (ROOT / path).exists():
            raise SystemExit(f"{file}: no file called {path}")
        if bang or path.startswith("docs/notebooks/"):
            copy = COLLECTED / "files" / Path(path).name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, copy)
            address = os.path.relpath(f"files/{copy.name}", folder)
            return f"{bang}[{words}]({address})" if bang else f"{{download}}`{words.strip('`')} <{address}>`"
        return words if words.startswith("`") else f"{words} (`{path}`)"

    pieces, start = [], 0
    for fence in _FENCE.finditer(text):
        pieces += [_LINK.sub(move, text[start : fence.start()]), fence[0]]
        start = fence.end()
    return "".join([*pieces, _LINK.sub(move, text[start:])])


def collect() -> None:
    """Write every page into `build/docs`; those that did not change keep their time, so that Sphinx need not read them again."""
    texts = pages()
    for path in COLLECTED.rglob("*.md"):
        if path.relative_to(COLLECTED).as_posix() not in texts:
            path.unlink()
    for page, text in texts.items():
        path = COLLECTED / page
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    shutil.copy(SOURCE / "conf.py", COLLECTED)
    shutil.copytree(SOURCE / "_static", COLLECTED / "_static", dirs_exist_ok=True)


def main(out: Path = BUILT) -> int:
    """Build into `out`; the exit code is that of Sphinx."""
    collect()
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    trees = ["-d", str(COLLECTED.with_name("doctrees")), str(COLLECTED), str(out)]
    return subprocess.run([*command, *trees], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    arguments = ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, default=BUILT)
    raise SystemExit(main(arguments.parse_args().out))
