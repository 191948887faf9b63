"""Any sequence of declaring, assigning, spending, writing, changing caps and putting back old copies, beside a model of it."""

import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import RefusedRelease, RegisterError
from dpviz.release.check import findings
from dpviz.release.records import State
from dpviz.release.register import Register
from tests.support.register_files import copied, put_back

NAMES, ROWS, TOKENS = ("one", "two", "three"), ("f", "g", "h"), ("t1", "t2", "t3", "t4", "t5")
EPSILONS = st.sampled_from((0.1, 0.25, 0.3, 0.7, 1.0, 1e-9, float("inf")))
CAPS = st.sampled_from((0.3, 0.75, 1.0, 2.0))
DECIDED = {"reason": "a second study", "made_by": "the officer"}


class Books(RuleBasedStateMachine):
    """`caps`, `rows` and `spent` say what the register has to say."""

    copies = Bundle("copies")

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.register = Register(Path(self.folder.name) / "releases.db")
        self.caps, self.rows, self.spent = {"one": [1.0], "two": [0.3]}, {"f": "one", "g": "two"}, {}
        for name, (cap,) in self.caps.items():
            self.register.declare(name, epsilon_cap=cap)
        for rows, name in self.rows.items():
            self.register.assign(rows, name)

    def teardown(self):
        self.folder.cleanup()

    @rule(name=st.sampled_from(NAMES), cap=CAPS)
    def declare(self, name, cap):
        if name in self.caps:
            with pytest.raises(RefusedRelease):
                self.register.declare(name, epsilon_cap=cap)
        else:
            self.register.declare(name, epsilon_cap=cap)
            self.caps[name] = [cap]

    @rule(rows=st.sampled_from(ROWS), name=st.sampled_from(NAMES))
    def assign(self, rows, name):
        if name in self.caps and self.rows.get(rows, name) == name:
            self.register.assign(rows, name)
            self.rows[rows] = name
        elif name in self.caps:
            with pytest.raises(RefusedRelease, match="already assigned"):
                self.register.assign(rows, name)

    @rule(name=st.sampled_from(NAMES), cap=CAPS, decided=st.booleans())
    def change(self, name, cap, decided):
        if name not in self.caps:
            return
        how = DECIDED if decided else {}
        if cap > self.caps[name][-1] and not decided:
            with pytest.raises(RefusedRelease):
                self.register.change_caps(name, epsilon_cap=cap)
        else:
            self.register.change_caps(name, epsilon_cap=cap, **how)
            self.caps[name].append(cap)

    @rule(name=st.sampled_from(NAMES), rows=st.sampled_from(ROWS), token=st.sampled_from(TOKENS), epsilon=EPSILONS)
    def spend_of_any(self, name, rows, token, epsilon):
        if name in self.caps:
            self.spend(name, rows, token, epsilon)

    @rule(rows=st.sampled_from(ROWS[:2]), token=st.sampled_from(TOKENS), epsilon=EPSILONS)
    def spend_of_its_own(self, rows, token, epsilon):
        self.spend(self.rows[rows], rows, token, epsilon)

    def spend(self, name, rows, token, epsilon):
        about = {"token": token, "fingerprint": rows, "learner": "pf-tree", "settings": {}, "file": self.file(token)}
        known = sum(Fraction(loss) for other, loss in self.spent.values() if other == name)
        is_over = epsilon == float("inf") or known + Fraction(epsilon) > Fraction(self.caps[name][-1])
        problem = (
            ("not assigned" if rows not in self.rows else "already assigned")
            if self.rows.get(rows) != name
            else "started before"
            if token in self.spent
            else "is left of the cap" * is_over
        )
        if not problem:
            self.register.start(name, loss=PrivacyLoss(epsilon), **about)
            self.spent[token] = (name, epsilon)
        else:
            with pytest.raises(RefusedRelease, match=problem):
                self.register.start(name, loss=PrivacyLoss(epsilon), **about)

    @precondition(lambda self: any(not record.sha256 for record in self.register.releases()))
    @rule(data=st.data(), is_free=st.booleans())
    def write(self, data, is_free):
        """The text is kept, and the process ends before its file could be written; another file may stand in its place."""
        token = data.draw(st.sampled_from([record.token for record in self.register.releases() if not record.sha256]))
        self.register.keep_text(token, "whole")
        if not is_free:
            self.file(token).write_text("another")
        assert [one.token for one in self.register.recover_interrupted()] == [token] * is_free
        assert (self.register.record(token).state is State.RELEASED) == is_free
        assert self.file(token).read_text() == ("whole" if is_free else "another")

    @rule(target=copies)
    def keep_a_copy(self):
        self.register.data_sets()
        place = Path(tempfile.mkdtemp(dir=self.folder.name))
        return copied(self.register, place), dict(self.spent), {name: len(caps) for name, caps in self.caps.items()}

    @rule(copy=copies)
    def put_back_an_old_copy(self, copy):
        """What is written on it is refused as long as anything was written since; then the present one is put back."""
        place, spent, caps = copy
        present = copied(self.register, Path(tempfile.mkdtemp(dir=self.folder.name)))
        put_back(place, self.register)
        if (spent, caps) != (self.spent, {name: len(found) for name, found in self.caps.items()}):
            with pytest.raises(RegisterError) as refused:
                self.register.declare("more", epsilon_cap=9)
            assert refused.value.code == "behind"
            assert findings(self.register)
        put_back(present, self.register)

    def file(self, token):
        return Path(self.folder.name) / f"{token}.json"

    @invariant()
    def says_the_same(self):
        assert findings(self.register) == ()
        assert {found.name for found in self.register.data_sets()} == set(self.caps)
        for name, caps in self.caps.items():
            balance = self.register.balance(name)
            exact = sum((Fraction(loss) for other, loss in self.spent.values() if other == name), Fraction(0))
            assert exact <= Fraction(balance.spent.epsilon) <= exact * (1 + Fraction(1, 10**12))
            assert Fraction(balance.left.epsilon) <= max(Fraction(0), Fraction(caps[-1]) - exact)
            assert [change.epsilon_cap for change in self.register.cap_changes(name)] == caps
        assert {record.token: (record.data_set, record.loss.epsilon) for record in self.register.releases()} == self.spent
        for rows in ROWS:
            known = self.register.data_set_of(rows)
            assert (known.name if known else None) == self.rows.get(rows)


Books.TestCase.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)
test_the_register_says_what_was_done_to_it = pytest.mark.slow(Books.TestCase)
