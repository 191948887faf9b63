"""Where every sign stands on the axis, against the stored run and against lines made by hand."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from dpviz.app.audit.results import Known, audit_lines, subject_key
from dpviz.evaluation.audit.verdicts import stored_run
from dpviz.figures.audit.axis import END, GROUPS, GUESSES, audit_axis, epsilon_axis, line_in_words
from dpviz.figures.audit.text import BADGES, AuditLine
from dpviz.results.wording import number_text
from tests.support.audits import BOUND, BUG, HOLDS, IMPOSSIBLE, Reader, line


def shown(*lines: AuditLine, epsilon: float = 1.0, selected: str = "") -> str:
    return audit_axis(lines, epsilon_axis(epsilon), selected=selected, caption="All")


def places(markup: str, epsilon: float = 1.0) -> dict[str, float]:
    """Sign -> the epsilon at which it stands."""
    return {sign: share * END * epsilon for sign, share in shares(markup).items()}


def shares(markup: str) -> dict[str, float]:
    """Sign -> its place, as a share of the axis."""
    strip = markup.split('class="dpa-strip"', 1)[1]
    found = re.findall(r'<i class="(?:dpa-sign )?dpa-(\w+)[^"]*" style="(?:left|width):([\d.]+)%"', strip)
    return {sign: float(share) / 100 for sign, share in found}


def beyond_the_end(markup: str) -> list[str]:
    return re.findall(r">([^<>]+)</span>", "".join(re.findall(r'<span class="dpa-far">(.*?)</span></span>', markup)) + "</span>")


class TestPlaces:
    def test_every_sign_stands_at_its_number_or_is_an_arrow_with_it(self) -> None:
        at = places(shown(line("violated", composed=1.5, attacked=replace(BOUND, bound=0.25))))
        assert at == pytest.approx({"composed": 1.5, "claimed": 1.0, "searched": math.log(4), "attacked": 0.25}, rel=1e-3)
        markup = shown(line("violated", composed=math.inf, found=IMPOSSIBLE, attacked=replace(BOUND, bound=5.6)))
        assert {"searched", "attacked"}.isdisjoint(places(markup))
        assert beyond_the_end(markup) == ["→∞", "∞", "5.6"]
        assert places(shown(line("holds", composed=END)))["composed"] == END

    def test_only_what_exceeds_the_claim_is_marked_as_beyond(self) -> None:
        assert "dpa-beyond" not in shown(line("holds", attacked=BOUND))
        assert shown(line("violated", attacked=BOUND)).count("dpa-beyond") == 1
        assert shown(line("holds", found=BUG)).count("dpa-beyond") == 1
        assert "dpa-beyond" not in shown(
            line("none", claimed=math.inf, attacked=replace(BOUND, claimed=math.inf, composed=math.inf, bound=2.0))
        )

    @pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
    def test_the_stored_run_is_drawn_as_it_is(self, epsilon: float) -> None:
        run = stored_run()
        lines = {item.key: item for item in audit_lines(Known(run, {}), epsilon)}
        for facts in (facts for facts in run.facts if facts.epsilon == epsilon):
            item = lines[subject_key(facts.learner, facts.params)]
            markup = shown(replace(item, setting=""), epsilon=epsilon)
            at, far = places(markup, epsilon), beyond_the_end(markup)
            drawn = {"claimed": facts.claim.epsilon, "composed": facts.composed.epsilon}
            drawn |= {"searched": facts.searched.log_ratio} if facts.searched else {}
            drawn |= {"attacked": facts.attacked.bound} if facts.attacked else {}
            for sign, value in drawn.items():
                if value <= END * epsilon:
                    assert at[sign] == pytest.approx(value, rel=1e-3, abs=1e-9)
                elif sign != "claimed":
                    assert number_text(value) in "".join(far)


class TestGuesses:
    def test_over_right_guesses_every_sign_stands_between_a_coin_and_certainty(self) -> None:
        bound = replace(BOUND, hits=(100, 600), n_tested=1000, n_done=2000)
        assert 70 < bound.right_guesses < 75
        markup = audit_axis([line("holds", attacked=bound)], GUESSES, selected="", caption="All")
        at = {sign: 50 + 50 * share for sign, share in shares(markup).items()}
        assert at == pytest.approx({"claimed": 73.1, "attacked": bound.right_guesses, "composed": 61.0}, rel=1e-3)
        assert not beyond_the_end(markup)
        words = line_in_words(line("holds", attacked=bound), GUESSES)
        assert "at most 73.1 right guesses of 100" in words
        assert "what it does allows at most 61" in words
        markup = audit_axis([line("violated", guesses=100.0, claimed_guesses=50.0)], GUESSES, selected="", caption="All")
        assert shares(markup) == {"claimed": 0.0, "composed": 1.0}
        assert not beyond_the_end(markup)


class TestLines:
    def test_groups_count_their_learners_and_other_settings_are_folded_into_them(self) -> None:
        markup = shown(line("unproven"), line("violated"), line("holds"), line("none"))
        assert [markup.index(GROUPS[name]) for name in GROUPS if name] == sorted(
            markup.index(GROUPS[name]) for name in GROUPS if name
        )
        assert GROUPS[""] not in markup
        assert markup.count("(1)") == 4
        default = line("violated")
        others = [replace(line("holds", "one tree"), title=default.title), replace(default, key="more", setting="big")]
        markup = shown(default, *others)
        assert "2 other settings of A violated, 1 holds" in markup
        assert "<details open" not in markup
        assert '<details open data-name="A violated"' in shown(default, *others, selected="more")

    def test_one_button_per_line_and_names_are_escaped(self) -> None:
        lines = [line("holds"), line("violated")]
        read = Reader(shown(*lines, selected=lines[1].key))
        assert [button["data-key"] for button in read.named("button")] == [item.key for item in lines]
        assert [button["aria-pressed"] for button in read.named("button")] == ["false", "true"]
        bad = replace(line("holds"), title="<img src=x onerror=alert(1)>", key='"><script>', note="<u>")
        read = Reader(audit_axis([bad, replace(bad, setting="<s>")], epsilon_axis(1.0), selected="", caption="<b>"))
        assert not {"img", "script", "u", "s"} & {tag for tag, _ in read.tags}
        assert bad.title in read.texts

    @pytest.mark.parametrize("verdict", BADGES)
    def test_a_line_has_words_for_everything_it_draws(self, verdict: str) -> None:
        known = line(verdict, composed=math.inf, found=HOLDS, attacked=replace(BOUND, bound=0.25))
        words = line_in_words(known, epsilon_axis(1.0))
        assert words == (
            f"{BADGES[verdict].word}; claims 1; searched: ≥ 0.5, within; attacked: ≥ 0.25, within; steps add up to ∞"
        )

    def test_what_is_not_known_is_not_drawn(self) -> None:
        nothing = line("", **dict.fromkeys(("claimed", "composed", "claimed_guesses", "guesses", "found", "attacked")))
        for axis in (epsilon_axis(1.0), GUESSES):
            assert not shares(audit_axis([nothing], axis, selected="", caption="All"))
            assert line_in_words(nothing, axis) == "not stored; not listed; not attacked"
