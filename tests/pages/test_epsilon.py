from tests.support.pages import opened, texts


def test_the_page_follows_its_epsilon_and_names_its_sources():
    test = opened("epsilon", **{"good-epsilon": "0.1"})
    said = texts(test).replace("\\", "")
    assert "of them are below 0.1" in said
    assert "nobody has reviewed them yet" in said.replace("\n", " ")
    assert "NIST SP 800-226" in said
    assert all(chart.proto.alt for chart in test.get("plotly_chart"))
    test.select_slider(key="good-epsilon").set_value(10.0).run()
    assert "of them are below 10" in texts(test).replace("\\", "")
