"""A table whose label depends on age and colour, and the schema somebody declared for it."""

from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

COLOURS = ("red", "green", "blue")
SCHEMA = Schema(
    (NumericFeature("age", 0, 100, whole=True), CategoricalFeature("colour", COLOURS)),
    ClassTarget("label", ("no", "yes")),
    n_public=600,
)


def csv_text(rows=600):
    lines = ["age,colour,label"]
    for row in range(rows):
        age, colour = row * 37 % 101, COLOURS[row % 3]
        lines.append(f"{age},{colour},{'yes' if age > 50 or colour == 'blue' else 'no'}")
    return "\n".join(lines) + "\n"
