"""What counts as a database that is away."""

from __future__ import annotations

import logging
import sys

import pytest
from django.db import InterfaceError, OperationalError, connection

from agentops import log, outage


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
def test_what_a_lost_connection_raises_is_an_outage(kind):
    assert outage.is_outage(kind("gone"))


@pytest.mark.django_db
def test_a_wrong_statement_is_none():
    with pytest.raises(Exception, match="no_such_table") as caught:
        connection.cursor().execute("SELECT 1 FROM no_such_table")

    assert not outage.is_outage(caught.value)


def test_an_error_without_words_is_named_by_its_kind():
    assert outage.first_line(OperationalError()) == "OperationalError"


def logged(error: Exception) -> logging.LogRecord:
    try:
        raise error
    except type(error):
        record = logging.makeLogRecord(
            {"msg": "Could not do %s", "args": ("it",), "exc_info": sys.exc_info()}
        )
    assert log.OutagesInALine().filter(record)
    return record


def test_an_outage_is_told_in_one_line():
    record = logged(OperationalError("the server is gone\nDETAIL: more"))

    assert record.getMessage() == "Could not do it: the server is gone"
    assert record.exc_info is None


def test_a_mistake_keeps_its_traceback():
    record = logged(ValueError("a bug"))

    assert record.getMessage() == "Could not do it"
    assert record.exc_info
