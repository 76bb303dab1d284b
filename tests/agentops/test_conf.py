"""The product's numbers: documented defaults, each with its own variable."""

from __future__ import annotations

import re
from dataclasses import fields
from decimal import Decimal

import pytest
from django.core.exceptions import ImproperlyConfigured

from agentops import conf
from tests.support.project import ROOT

OTHER = {bool: "1", int: "7", float: "0.5", Decimal: "0.5", str: "https://x.example"}


def test_the_defaults_are_the_documented_ones(monkeypatch):
    for field in fields(conf.Product):
        monkeypatch.delenv(f"AGENTOPS_{field.name.upper()}", raising=False)

    assert conf.from_environment() == conf.Product()


@pytest.mark.parametrize("field", [field.name for field in fields(conf.Product)])
def test_each_number_has_a_variable_of_its_own(monkeypatch, field):
    kind = type(getattr(conf.Product(), field))
    monkeypatch.setenv(f"AGENTOPS_{field.upper()}", OTHER[kind])

    value = getattr(conf.from_environment(), field)

    assert type(value) is kind
    assert value == (True if kind is bool else kind(OTHER[kind]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AGENTOPS_MAX_STEPS", "0"),
        ("AGENTOPS_LEASE_S", "0"),
        ("AGENTOPS_CONTEXT_SHARE", "80"),
        ("AGENTOPS_THREADS", "many"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused(monkeypatch, name, value):
    monkeypatch.setenv(name, value)

    with pytest.raises(ImproperlyConfigured, match=name):
        conf.from_environment()


def test_a_test_can_configure_the_product(configured):
    configured(max_steps=3)

    assert conf.product().max_steps == 3


def test_the_documented_table_is_true():
    table = (ROOT / "docs" / "settings.md").read_text()
    rows = re.findall(r"^\| `AGENTOPS_(\w+)` \| `?([^|`]+)`? \|", table, re.MULTILINE)
    documented = {name.lower(): default.strip() for name, default in rows}

    for field in fields(conf.Product):
        value = getattr(conf.Product(), field.name)
        shown = (value or "none") if isinstance(value, str) else f"{float(value):g}"
        told = documented[field.name]
        assert (told if isinstance(value, str) else f"{float(told):g}") == shown


def test_every_variable_that_the_settings_read_is_documented():
    table = (ROOT / "docs" / "settings.md").read_text()
    read = set()
    for name in ("settings", "log"):
        source = (ROOT / "agentops" / f"{name}.py").read_text()
        read |= set(re.findall(r"env\.\w+\(\s*\"([A-Z_]+)\"", source))

    assert read
    assert {name for name in read if f"`{name}`" not in table} == set()
