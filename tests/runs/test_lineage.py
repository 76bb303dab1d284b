"""A database that went back is found out, and nothing else is taken for one."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from runs import lineage
from runs.models import Lineage
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def here(settings, tmp_path):
    """Call it with the name of a host: from now on this process is there."""

    def at(host: str) -> None:
        settings.VAR_DIR = tmp_path / host

    at("one")
    return at


def beats(times: int = 1) -> bool:
    return [lineage.beat() for _ in range(times)][-1]


def row():
    return Lineage.objects.get()


def backup():
    """The row as a backup has it; call the result to restore that."""
    found = Lineage.objects.values("name", "mark", "overtaken_at").get()
    return lambda: Lineage.objects.update(**found)


def test_who_goes_on_is_not_overtaken():
    assert not beats(3)

    assert row().mark == 3
    assert not lineage.is_overtaken()


def test_a_restored_backup_is_found_out_until_somebody_says_so():
    beats(2)
    restore = backup()
    beats(1)
    restore()

    assert beats()

    assert lineage.is_overtaken()
    assert beats(5)
    lineage.begin_anew()
    assert not beats(3)
    assert not lineage.is_overtaken()


def test_what_was_found_stays_though_another_host_goes_on(here):
    beats(2)
    restore = backup()
    beats(2)
    restore()
    beats()
    here("two")

    assert beats(5)

    here("one")
    assert beats()


def test_two_hosts_of_one_database_go_on_together(here):
    for turn in range(10):
        here(("one", "two")[turn % 2])
        assert not beats(turn % 3 + 1)


def test_both_hosts_go_on_once_it_was_said(here):
    for host in ("one", "two", "one"):
        here(host)
        beats(2)
    restore = backup()
    beats(3)
    restore()
    assert beats()

    lineage.begin_anew()

    for host in ("one", "two"):
        here(host)
        assert not beats()


def test_a_new_folder_knows_nothing(here):
    beats(2)
    restore = backup()
    beats(5)
    restore()
    here("elsewhere")

    assert not beats()


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"a": "b"}', "\u00e9", "null"])
def test_a_broken_file_knows_nothing(settings, content):
    beats(1)
    (settings.VAR_DIR / "lineage").write_text(content, encoding="utf-8")

    assert not beats(2)


def test_another_database_is_no_older_one():
    beats(9)
    Lineage.objects.all().delete()

    assert not beats()

    assert row().mark == 1


def test_going_back_beyond_an_earlier_restore_is_found_out():
    beats(2)
    restore = backup()
    beats(2)
    restore()
    lineage.begin_anew()
    beats(9)
    restore()

    assert beats()


def test_few_histories_are_remembered(settings):
    for _ in range(lineage.KEPT + 5):
        beats()
        lineage.begin_anew()

    kept = json.loads((settings.VAR_DIR / "lineage").read_text())
    assert len(kept) == lineage.KEPT


def test_a_folder_that_cannot_be_written_stops_no_worker(settings, tmp_path):
    (tmp_path / "file").touch()
    settings.VAR_DIR = tmp_path / "file"

    assert not beats(2)


def test_probes_and_pages_say_so(client):
    beats(2)
    client.force_login(factory.make_user("sue", "submitters"))
    before = client.get("/runs/").content.decode()
    Lineage.objects.update(mark=0)
    beats()

    probe = client.get("/readyz")

    page = client.get("/runs/").content.decode()
    assert (probe.status_code, probe.json()["ready"]) == (503, False)
    assert "manage.py restored" in probe.json()["history"]
    assert "This database is older than it was" in page
    assert "This database is older than it was" not in before


def test_the_command_says_so_for_all():
    beats(2)
    Lineage.objects.update(mark=0)
    beats()

    call_command("restored")

    assert not lineage.is_overtaken()
    assert not beats()
