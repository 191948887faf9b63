"""A learner with some of its own parameters set, as one text: "pf-tree(lookahead=1)", "s-gbdt(rounds=50; bins=16)".

A learner's name alone is the variant in which nothing is set. Weights stand between slashes: "privatree(shares=1/1/4)". On screen
the learner's title stands in the name's place: "PF-tree (lookahead=1)".
"""

from typing import Any

from dpviz.errors import ParameterError, UnknownName
from dpviz.learners.catalogue import get_learner, learner_names, registry
from dpviz.training.params import Control, controls_of, make_params

_FLAGS = {"True": True, "False": False}


def parse_variant(text: str) -> tuple[str, dict[str, Any]]:
    """(learner, the parameters that are set). Raises UnknownName, and ParameterError for what the learner does not take."""
    name, bracket, inside = str(text).partition("(")
    controls = controls_of(get_learner(name).Params)
    if not bracket:
        return name, {}
    if not inside.endswith(")"):
        raise ParameterError("sweep", "learners", text, "names such as 'pf-tree' or 'pf-tree(lookahead=1)'")
    given = {}
    for part in inside[:-1].split(";"):
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in controls:
            raise UnknownName(f"parameter of {name!r}", key, controls)
        given[key] = _value(value, controls[key])
    make_params(get_learner(name).Params, name, given)
    return name, given


def _value(text: str, about: Control) -> Any:
    """The value that a text says; the text itself where it says none, which the parameter's own check then refuses."""
    try:
        match about.kind:
            case "flag":
                return _FLAGS[text]
            case "whole":
                return int(text)
            case "number":
                return float(text)
            case "shares" | "classes":
                return tuple(map(float, text.split("/")))
    except (KeyError, ValueError):
        pass
    return text


def variant(learner: str, given: dict[str, Any]) -> str:
    """The text of a variant; of the learner alone where nothing is given."""
    if not given:
        return learner
    texts = {key: "/".join(f"{part:g}" for part in of) if isinstance(of, tuple) else str(of) for key, of in given.items()}
    return f"{learner}({'; '.join(f'{key}={text}' for key, text in texts.items())})"


def variant_title(text: str) -> str:
    """How a variant is called on screen."""
    name, given = parse_variant(text)
    title = get_learner(name).title
    return f"{title} {variant('', given)}" if given else title


def variant_of_title(title: str) -> str:
    """The variant that is called so on screen, or by its text. Raises as `parse_variant`."""
    titles = sorted(((spec.title, name) for name, spec in registry().items()), key=lambda item: -len(item[0]))
    text = next((name + title[len(known) :].strip() for known, name in titles if title.startswith(known)), title)
    return variant(*parse_variant(text))


def place_of(text: str) -> tuple[int, str]:
    """Where a variant stands in a list: as its learner does among all learners, behind the learner itself."""
    return learner_names().index(parse_variant(text)[0]), text
