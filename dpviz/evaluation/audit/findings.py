"""Where `judge` was imported from; it works in this version only, and is in `dpviz.evaluation.audit.evidence`."""

from dpviz.evaluation.audit.evidence import judge

__all__ = ["judge"]
