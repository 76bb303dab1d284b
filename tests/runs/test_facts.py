"""The facts a planner is given, and the words made of them."""

from __future__ import annotations

import pytest

from runs.facts import subject


@pytest.mark.parametrize(
    ("task", "title"),
    [
        ("Count the apples. Then rest.", "Count the apples"),
        ("\n# Report\nmore", "Report"),
        ("", "No task"),
        ("x" * 200, "x" * 109 + "…"),
    ],
)
def test_the_first_sentence_of_the_task_is_its_title(task, title):
    assert subject(task) == title
