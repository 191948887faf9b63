"""Trees in which every name attacks the format they are written in."""

import json

from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Leaf, SubsetRule, Tree
from dpviz.results.exports import export
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema

NAMES = (
    '%%{init: {"themeCSS": ".label{display:none}", "fontFamily": "url(http://evil.example)"}}%%',
    "%%{init: {'securityLevel': 'loose'}}%%",
    '"]; click n0 "javascript:alert(1)"',
    'x"]\n  click n0 href "http://evil.example"',
    '"; URL="http://evil.example"; image="/etc/passwd',
    "\\G \\N \\l*/ -- ; DROP TABLE t; /*",
    "'''+__import__('os').system('x')+'''",
    "</script><script>alert(1)</script><img src=http://evil.example>",
    "[link](http://evil.example) ![x](http://evil.example)",
    "\u2028\u202e\u2066*/\r\nimport os",
    '=HYPERLINK("http://evil.example")',
    "---\nconfig:\n  theme: base\n---",
)


def written(name: str, form: str) -> str:
    """A tree in which every name begins with this one, in this form."""
    schema = Schema((CategoricalFeature(f"{name} of", (name, "b")),), ClassTarget(name, (f"{name} no", f"{name} yes")))
    tree = Tree(schema, Branch(SubsetRule(0, (0,)), Leaf(0), Leaf(1)))
    document = {"format": "dpviz-tree/1", "kind": "tree", **model_body(tree), "schema": schema.to_dict()}
    return export(form, json.dumps(document))
