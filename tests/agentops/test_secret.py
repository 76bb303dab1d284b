"""The embedded installation's key: made once, kept, and nobody else's to read."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ImproperlyConfigured

from agentops import secret


def test_the_key_is_made_once_and_kept(tmp_path):
    first = secret.key_in(tmp_path / "var")

    assert len(first) >= 50
    assert secret.key_in(tmp_path / "var") == first


def test_only_its_owner_may_read_it(tmp_path):
    secret.key_in(tmp_path)

    mode = (tmp_path / secret.NAME).stat().st_mode

    assert stat.S_IMODE(mode) == 0o600


def test_an_empty_file_is_not_a_key(tmp_path):
    (tmp_path / secret.NAME).touch(mode=0o644)

    assert len(secret.key_in(tmp_path)) >= 50
    assert stat.S_IMODE((tmp_path / secret.NAME).stat().st_mode) == 0o600


def test_processes_that_start_together_agree(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(secret.key_in, [tmp_path] * 8))

    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == [secret.NAME]


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "var").write_text("a file in the way")

    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY is not set"):
        secret.key_in(tmp_path / "var")
