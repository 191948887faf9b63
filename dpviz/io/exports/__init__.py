"""The registry: every file in this folder with TARGETS has forms a model can be exported in.

Adding one touches nothing else. Pictures are in `dpviz/figures/publish/exports.py`, which lists all targets.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from dpviz.io.exports.contract import Target


@cache
def registry() -> Mapping[str, Target]:
    """Name -> Target, in the order they are offered."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found: list[Target] = [target for module in modules for target in getattr(module, "TARGETS", ())]
    found.sort(key=lambda target: (target.order, target.name))
    return MappingProxyType({target.name: target for target in found})
