"""`load` lets visitors into a real server and says how long they waited."""

import pytest

from benchmarks.load.hour import Hour, Look, measure_hour
from benchmarks.load.hour_page import hour_page
from benchmarks.load.measure import Load, Request, measure
from benchmarks.load.memory import Memory, Sample, measure_memory
from benchmarks.load.memory_page import memory_page
from benchmarks.load.page import load_page

WAITS = (Request(True, 1.0), Request(False, 0.5), Request(False, 3.0), Request(False, None))


def test_the_page_counts_who_was_served_in_time_and_who_gave_up():
    page = load_page(Load(20, 5, 30.0, WAITS, 12.0, 1), "Made today.")
    assert "20 sessions on one server, 5 of them comparing" in page
    assert "| a page with its first tree | 1 | 100.0% (21% to 100%) | 1.00 s | 1.00 s | 1.00 s |" in page
    assert "| another epsilon | 3 | 33.3% (6% to 79%) | 3.00 s |" in page
    assert "60.00 s |" in page
    assert "not met at 50.0%" in page
    assert "1 sessions saw an error" in page


def test_the_target_is_met_by_enough_of_them():
    assert "; met at 100.0%" in load_page(Load(1, 0, 1.0, WAITS[:2], 1.0, 0), "Made today.")


@pytest.mark.slow
def test_visitors_get_the_trees_they_ask_for():
    found = measure(sessions=3, comparing=1, seconds=4)
    assert found.failed == 0
    assert [one.is_first for one in found.requests].count(True) == 2
    assert all(one.seconds is not None for one in found.requests)
    assert found.processor_seconds > 0


@pytest.mark.parametrize(("each", "slope"), [(0.0, "+0.00 MB"), (0.1, "+10.00 MB")])
def test_memory_that_grows_with_every_visit_shows_as_a_slope(each, slope):
    loads = tuple(Sample(1.0, n, 0, 300 + each * n, 0.0, 20, 30) for n in range(0, 1001, 50))
    sweeps = tuple(Sample(2.0, 1000, n, 350.0, 900.0, 20, 30) for n in range(10, 201, 10))
    page = memory_page(Memory(loads + sweeps, 3), "Made today.")
    assert f"the median slope of the server's memory is {slope} per hundred loads and +0.00 MB per hundred sweeps" in page
    assert f"It was {max(350, 300 + each * 1000):.0f} MB at most and 350 MB at the end" in page
    assert "1,000 page loads over all pages and 200 comparisons" in page
    assert "3 visits saw an error or did not end" in page
    assert "`python -m benchmarks memory --loads 1000 --sweeps 200`" in page


def test_too_few_visits_have_no_slope():
    few = (Sample(0.0, 0, 0, 80.0, 0.0, 6, 7), Sample(0.1, 50, 0, 300.0, 0.0, 6, 7))
    assert "nan MB per hundred loads. It was 300 MB at most" in memory_page(Memory(few, 0), "Made today.")


@pytest.mark.slow
def test_visits_come_to_their_end():
    found = measure_memory(loads=11, sweeps=1, every=11)
    assert found.failed == 0
    assert [(one.loads, one.sweeps) for one in found.samples] == [(0, 0), (11, 0), (11, 1)]
    assert all(one.server > 50 and one.threads and one.files for one in found.samples)
    assert found.samples[-1].workers > 50


def an_hour(*, grows: float = 0.0, failed: tuple[str, ...] = (), wrong: tuple[str, ...] = ()) -> Hour:
    looks = [Look(minute, 30 * minute, 500 + grows * minute, 800, 22, 300, 5, 0, 1, 0.1, 9, 1.5) for minute in range(1, 61)]
    gone = Look(63, 1800, 500 + grows * 63, 800, 20, 11, 5, 0, 1, 0.1, 9, 1.5)
    visits, lost = {"trees": 900, "comparison": 400, "upload": 300, "release": 200}, {"trees": 225, "release": 50}
    return Hour((*looks, gone), visits, lost, failed, (), 150, 160, 152, wrong, {".": 3, "releases": 152}, 1234.0)


@pytest.mark.parametrize(("grows", "late"), [(0.0, "500"), (2.0, "616")])
def test_the_end_of_the_hour_stands_beside_its_tenth_minute(grows, late):
    page = hour_page(an_hour(grows=grows), "Made today.")
    assert page.startswith("# 60 minutes of everything at once")
    assert f"| server, MB | {500 + grows * 10:.0f} | {late} | {500 + grows * 10:.0f} | {500 + grows * 60:.0f} |" in page
    assert "900 trees, 400 comparison, 300 upload, 200 release" in page
    assert "(275 did)" in page
    assert "0 of 1,800 visits saw an error or did not end;" in page
    assert "160 asked for, 150 seen confirmed, 152 in the register, whose chain and files are whole, none counted twice." in page
    assert "`python -m benchmarks hour --minutes 60`" in page


def test_the_page_of_the_hour_says_what_went_wrong():
    page = hour_page(an_hour(failed=("upload: _TooLong the data in use",) * 2, wrong=("ward 7: 2 releases",)), "Made today.")
    assert "2 of 1,800 visits saw an error or did not end (upload: _TooLong the data in use);" in page
    assert "whose chain and files are not: ward 7: 2 releases." in page


@pytest.mark.slow
def test_visitors_who_do_everything_leave_a_register_that_is_right(monkeypatch):
    monkeypatch.setattr("benchmarks.load.hour.PAUSE", (0.0, 0.5))
    found = measure_hour(minutes=0.2, sessions=6, every=0.1, after=0)
    assert (found.failed, found.logged, found.wrong) == ((), (), ())
    assert sum(found.visits.values()) == found.looks[-1].visits >= 6
    assert found.confirmed <= found.released <= found.pressed
    assert all(one.server > 50 and one.threads and one.files for one in found.looks)
