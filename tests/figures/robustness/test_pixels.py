from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from dpviz.figures.robustness.backdoor import FRAME, picture_svg


def test_one_square_per_inked_pixel_and_a_frame_per_trigger_pixel():
    pixels = np.zeros((4, 4))
    pixels[1, 2] = pixels[3, 3] = 1.0
    svg = ElementTree.fromstring(picture_svg(pixels, title="a < b", framed=(15,)))
    squares = [rect for rect in svg if rect.get("width") == "10"]
    assert [(rect.get("x"), rect.get("y")) for rect in squares] == [("20", "10"), ("30", "30"), ("30", "30")]
    assert squares[-1].get("stroke") == FRAME
    assert svg.get("aria-label") == "a < b"
    assert svg.get("role") == "img"
