"""The list of keys: each once, and the legend has all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from reviews import keyboard
from reviews.decisions import registry
from tests.support import factory

SCRIPT = Path(__file__).resolve().parents[2] / "static" / "js" / "keys.js"


def test_no_key_means_two_things():
    shown = [one for key in keyboard.legend() for one in key.shown]
    singles = [one for one in shown if one not in {"Ctrl", "Enter"}]

    assert len(singles) == len(set(singles))


def test_every_key_of_a_decision_is_in_the_list():
    named = {key.name for key in keyboard.legend()}

    assert {kind.key for kind in registry.all_kinds() if kind.key} <= named


@pytest.mark.django_db
def test_the_legend_on_a_page_has_every_key(client):
    client.force_login(factory.make_user("ana", "operators"))

    page = client.get(reverse("reviews:profile")).content.decode()

    assert all(f'data-legend="{key.name}"' in page for key in keyboard.legend())


def test_what_the_script_does_by_itself_is_in_the_list():
    done = SCRIPT.read_text().split("const actions = {")[1].split("};")[0]
    names = {
        line.split(":")[0].strip().strip('"')
        for line in done.splitlines()
        if ":" in line
    }
    listed = {one for key in keyboard.legend() for one in key.shown}

    assert names
    assert names <= listed
