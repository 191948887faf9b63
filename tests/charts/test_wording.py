from dpviz.charts.wording import capital, chance, counted, percent


def test_numbers_have_one_form_and_percents_never_say_never_or_always_wrongly():
    said = {0: "0%", 1: "100%", 0.37: "37%", 0.029: "2.9%", 4e-4: "under 0.1%", 0.9999: "over 99.9%", 0.995: "99.5%"}
    assert {share: chance(share) for share in said} == said
    assert [percent(share) for share in (0.9, 0.125, 1)] == ["90%", "12.5%", "100%"]
    assert [counted(number, "row") for number in (0, 1, 12_000)] == ["0 rows", "1 row", "12,000 rows"]
    assert [capital(text) for text in ("", "at ε = 1", "ε = 1")] == ["", "At ε = 1", "ε = 1"]
