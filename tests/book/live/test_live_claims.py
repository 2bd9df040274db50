"""The pages' statements about the figure are true."""

import pytest

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.integration]

CALL, COAT = "die frau ruft den alten mann an .", "einen mantel trägt diese frau ."
SWAPPED, BICYCLE = "der mann ruft die frau an .", "ist das das fahrrad ?"
CALLED = "the woman calls the old man ."
LAYER_2 = [f"cross.1.{head}" for head in range(4)]


@pytest.mark.parametrize(
    ("text", "settings", "said"),
    [
        # the first page
        (CALL, {}, CALLED),
        (CALL, {"hidden": [3]}, "the woman puts on the old man ."),
        (BICYCLE, {"k": 1}, "is that that that that the bicycle ?"),
        (BICYCLE, {"k": 2}, "is that the bicycle ?"),
        # 03
        (COAT, {"positions": False}, "this woman wears a woman ."),
        (CALL, {"positions": False}, CALLED),
        (SWAPPED, {"positions": False}, "the woman calls the woman ."),
        (SWAPPED, {}, "the man calls the woman ."),
        # 05, and the first page
        (CALL, {"off": LAYER_2[:1]}, CALLED),
        (CALL, {"off": LAYER_2[:2]}, CALLED),
        (CALL, {"off": LAYER_2[:3]}, CALLED),
        (
            CALL,
            {"off": [*LAYER_2[:1], *LAYER_2[2:]]},
            "the woman does not call the old man .",
        ),
        # 11
        (BICYCLE, {"k": 3, "alpha": 1.5}, "is that that the bicycle ?"),
    ],
)
def test_a_translation_is_the_one_that_a_page_tells_of(engine, text, settings, said):
    asked = "([text, settings]) => ask.say(text, settings)"
    assert engine.evaluate(asked, [text, settings]) == said


def test_without_the_mask_one_of_the_examples_changes(engine, examples):
    asked = "([text, causal]) => ask.say(text, { causal })"
    texts = [example["text"] for example in examples]
    changed = [
        text
        for text in texts
        if engine.evaluate(asked, [text, True]) != engine.evaluate(asked, [text, False])
    ]
    assert len(texts) == 12
    assert changed == [BICYCLE]
