from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from dpviz.charts.tree.layout import CUT_BRANCH, MAX_WIDTH, NARROW_WIDTH, Layout, MinWidths, NodeBox, layout_within, tree_layout
from dpviz.models.tree import Branch, Tree

SHAPES = [("complete", 0), ("complete", 1), ("complete", 4), ("complete", 7), ("chain", 8), ("chain", 30)]


@pytest.fixture(params=SHAPES, ids=lambda shape: f"{shape[0]}-{shape[1]}")
def tree(request: pytest.FixtureRequest) -> Tree:
    kind, depth = request.param
    return request.getfixturevalue(kind)(depth)


@pytest.fixture(params=[False, True], ids=["wide", "narrow"])
def layout(request: pytest.FixtureRequest, tree: Tree) -> Layout:
    return tree_layout(tree, narrow=request.param)


def overlap(one: NodeBox, other: NodeBox) -> bool:
    across = one.x < other.x + other.width and other.x < one.x + one.width
    return across and one.y < other.bottom and other.y < one.bottom


def test_boxes_stand_in_reading_order_inside_the_drawing_and_do_not_overlap(tree: Tree, layout: Layout) -> None:
    assert [placed.path for placed in layout.nodes] == [placed.path for placed in tree.nodes()]
    assert [placed.id for placed in layout.nodes] == [placed.id for placed in tree.nodes()]
    assert not any(itertools.starmap(overlap, itertools.combinations(layout.nodes, 2)))
    assert min(placed.x for placed in layout.nodes) >= 0
    assert min(placed.y for placed in layout.nodes) >= 0
    assert max(placed.x + placed.width for placed in layout.nodes) <= layout.width
    assert max(placed.bottom for placed in layout.nodes) <= layout.height
    for placed in layout.nodes[1:]:
        assert placed.y >= layout.by_path[placed.path[:-1]].bottom
        if placed.path.endswith("R"):
            yes = layout.by_path[placed.path[:-1] + "L"]
            assert (placed.y if placed.hangs else placed.x) > (yes.y if placed.hangs else yes.x)
    assert min(placed.width for placed in layout.nodes) >= 110


def test_no_drawing_grows_wider_than_a_page_or_paper_can_show(tree: Tree) -> None:
    assert tree_layout(tree).width <= MAX_WIDTH + 20
    narrow = tree_layout(tree, narrow=True)
    assert narrow.width == NARROW_WIDTH
    assert len({placed.x + placed.width for placed in narrow.nodes}) == 1
    assert [placed.y for placed in narrow.nodes] == sorted(placed.y for placed in narrow.nodes)
    paper = layout_within(tree, 828, 470)  # whole levels are left out until the rest fits
    assert paper.width <= 828
    assert paper.height <= 470
    kept = max(len(placed.path) for placed in paper.nodes)
    assert [placed.path for placed in paper.nodes] == [placed.path for placed in tree.nodes() if len(placed.path) <= kept]
    stubs = [placed.path for placed in paper.nodes if placed.node is CUT_BRANCH]
    assert stubs == [placed.path for placed in tree.nodes() if len(placed.path) == kept and isinstance(placed.node, Branch)]
    assert not any(itertools.starmap(overlap, itertools.combinations(paper.nodes, 2)))


def test_rows_and_cards_take_the_room_that_is_left_for_their_questions(complete: Callable[[int], Tree]) -> None:
    wanted = MinWidths(row=260, wanted_row=330, wanted={"": 320, "L": 200})
    deep = tree_layout(complete(4), minimum=wanted)
    assert deep.width <= MAX_WIDTH
    assert min(one.width for one in deep.nodes if one.hangs and isinstance(one.node, Branch)) >= 330
    assert deep.by_path[""].width == 320
    assert not any(itertools.starmap(overlap, itertools.combinations(deep.nodes, 2)))
    assert min(placed.width for placed in tree_layout(complete(2), minimum=MinWidths(card=190)).nodes) >= 190
    for narrow in (False, True):
        layout = tree_layout(complete(8), narrow=narrow, minimum=MinWidths(row=260))
        assert min(one.width for one in layout.nodes if one.hangs and isinstance(one.node, Branch)) >= 260
