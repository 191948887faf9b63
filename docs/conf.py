"""What Sphinx needs to know. `docs/build.py` collects the pages; nothing here or in a built page asks another computer."""

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dpviz.version import VERSION

project = "dpviz"
author = "The dpviz authors"
copyright = author
version = release = VERSION
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_custom_sections = ["Warns"]
add_module_names = False
smartquotes = False  # would join the two hyphens of an option
html_theme = "furo"
html_title = f"dpviz {VERSION}"
html_static_path = ["_static"]
html_css_files = ["dpviz.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6b6b", "color-brand-content": "#0b6b6b"},
    "dark_css_variables": {"color-brand-primary": "#4fb8ae", "color-brand-content": "#4fb8ae"},
}
suppress_warnings = ["config.cache"]
highlight_language = "text"


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Formulas as MathML, which browsers draw by themselves: no script and no font is fetched."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
