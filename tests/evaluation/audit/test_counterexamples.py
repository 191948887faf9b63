"""Scripts that refute claims: each runs alone, without dpviz, and says what our own code says of the same outputs."""

import math
import re
import subprocess
import sys
from itertools import product
from runpy import run_path

import numpy as np
import pytest

from dpviz.evaluation.audit.verdicts import script_of, stored_run
from dpviz.installation import bundled
from dpviz.learners import FitRequest, learner_names
from dpviz.learners.published.privatree_corrected import _node_loss
from dpviz.learners.published.rgv_forest import labels_loss
from dpviz.models.tree import Leaf
from dpviz.privacy.leaf_labels import SmoothMajority
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema

FILES = sorted(map(str, bundled("data/counterexamples").glob("*.py")))


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_a_script_runs_alone_and_refutes(file, tmp_path):
    """Isolated (-I), from an empty folder, with every import but NumPy's and the standard library's refused."""
    guard = (
        "import sys, runpy\n"
        "class Only:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('dpviz', 'scipy', 'pandas', 'dp_accounting'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Only())\n"
        f"runpy.run_path({file!r}, run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", guard], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "REFUTED" in done.stdout
    assert len(re.findall(r"probability |with the row |without the row ", done.stdout)) >= 2


def test_every_refuted_learner_has_its_script_and_no_other_one_has():
    refuted = {facts.learner for facts in stored_run().facts if facts.claim.verdict == "violated"}
    assert {name for name in learner_names() if script_of(name) is not None} == refuted
    assert script_of("s-gbdt-published") is None
    assert script_of("pf-tree") is None


@pytest.mark.parametrize("learner", ["privatree", "bdpt"])
def test_our_trees_stop_as_the_script_says(learner):
    chance = run_path(str(script_of(learner)))["chance_of_a_split"]
    schema = Schema((CategoricalFeature("a", ("x", "y")),), ClassTarget("c", ("n", "p")), n_public=2)
    for labels, codes in (([0], [0]), ([0, 0], [0, 1]), ([0, 1], [0, 1])):
        rows = EncodedDataset(schema, (np.array(codes, dtype=np.uint8),), np.array(labels, dtype=np.uint8))
        roots = [FitRequest.of(learner, epsilon=0.1, depth=1, max_depth=1, seed=k).fit(rows).model.root for k in range(20)]
        assert np.mean([not isinstance(root, Leaf) for root in roots]) == chance(labels)


def test_our_own_mechanisms_lose_what_the_scripts_say():
    log_chance = run_path(str(script_of("smooth-forest")))["log_chance_of_the_rarer_class"]
    for epsilon, gap in product((0.1, 1.0), (1, 2, 7)):
        ours = SmoothMajority(epsilon).probabilities(np.array([gap, 0]))
        assert math.exp(log_chance(gap, epsilon)) == pytest.approx(float(ours[1]), rel=1e-9)
    chance = run_path(str(script_of("privatree-corrected")))["chance_of_the_worse"]
    for epsilon in (0.0125, 0.05, 0.3):
        exact = math.log(0.5 / chance(epsilon))
        assert _node_loss(epsilon) <= exact + 1e-12
        assert _node_loss(epsilon) == pytest.approx(exact, abs=0.05)
    assert math.log(0.5 / chance(0.0125)) / 0.0125 == pytest.approx(4.82, abs=0.01)
    script = run_path(str(script_of("rgv-forest")))
    chance, part = script["chance_of_the_other_label"], 0.2
    for rows in (1, 5, 20):
        assert math.log(chance(rows, part) / chance(rows + 1, part)) == pytest.approx(labels_loss(rows, 1, part), rel=1e-6)
