"""Every line says which run, step and attempt it belongs to."""

from __future__ import annotations

import json
import logging
import logging.config
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest

from agentops import log


@pytest.fixture
def lines(monkeypatch):
    """A logger with our filter and JSON format, and what it has written."""
    out = StringIO()
    monkeypatch.setenv("AGENTOPS_LOG", "json")
    made = logging.config.DictConfigurator(log.config())
    handler = logging.StreamHandler(out)
    handler.addFilter(log.ContextFilter())
    handler.setFormatter(made.configure_formatter(log.config()["formatters"]["json"]))
    logger = logging.Logger("test")  # noqa: LOG001 - of this test alone
    logger.addHandler(handler)
    return logger, lambda: [json.loads(line) for line in out.getvalue().splitlines()]


def test_bound_values_are_on_the_line(lines):
    logger, written = lines

    with log.bound(run="r1", step=3), log.bound(attempt=2):
        logger.info("calling")

    (line,) = written()
    assert (line["run"], line["step"], line["attempt"]) == ("r1", "3", "2")
    assert (line["message"], line["level"], line["name"]) == ("calling", "INFO", "test")


def test_outside_the_block_nothing_is_bound(lines):
    logger, written = lines

    with log.bound(run="r1"):
        pass
    logger.info("idle")

    assert written()[0]["run"] == "-"


def test_threads_bind_for_themselves_alone(lines):
    logger, written = lines

    def work(run: str) -> None:
        with log.bound(run=run):
            logger.info(run)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, "abcd"))

    assert all(line["run"] == line["message"] for line in written())
    assert log.current() == {}


def test_an_exception_is_part_of_the_line(lines):
    logger, written = lines

    try:
        raise ValueError("no")
    except ValueError:
        logger.exception("failed")

    assert "ValueError: no" in written()[0]["exc_info"]


def test_only_known_keys_can_be_bound():
    with pytest.raises(TypeError, match="colour"), log.bound(colour="red"):
        pass


def test_a_wrong_host_is_one_line(lines):
    logger, written = lines
    logger.addFilter(log.WithoutTraceback())

    try:
        raise ValueError("no such host")
    except ValueError:
        logger.exception("Invalid HTTP_HOST header")

    (line,) = written()
    assert line["message"] == "Invalid HTTP_HOST header"
    assert "exc_info" not in line


@pytest.mark.parametrize(
    ("status", "level"), [(409, "INFO"), (422, "INFO"), (404, "WARNING")]
)
def test_a_form_that_was_refused_is_no_warning(lines, monkeypatch, status, level):
    monkeypatch.setattr(logging.getLogger(), "level", logging.INFO)
    logger, written = lines
    logger.addFilter(log.AnswersAreNoNews())

    logger.warning("Refused: /there/", extra={"status_code": status})

    assert [line["level"] for line in written()] == [level]


def test_where_only_warnings_are_wanted_a_refused_form_is_no_line(monkeypatch):
    monkeypatch.setattr(logging.getLogger(), "level", logging.WARNING)
    record = logging.makeLogRecord({"levelno": logging.WARNING, "status_code": 422})

    assert not log.AnswersAreNoNews().filter(record)


@pytest.mark.parametrize(
    "word", ["a\nb", "a\r\nb", "a\x1b[2Jb", "a\u202eb", "a\u2028b"]
)
def test_what_others_say_begins_no_line_and_steers_no_terminal(monkeypatch, word):
    out = StringIO()
    monkeypatch.setenv("AGENTOPS_LOG", "plain")
    made = logging.config.DictConfigurator(log.config())
    handler = logging.StreamHandler(out)
    handler.addFilter(log.ContextFilter())
    handler.setFormatter(made.configure_formatter(log.config()["formatters"]["plain"]))
    logger = logging.Logger("test")  # noqa: LOG001 - of this test alone
    logger.addHandler(handler)

    logger.info("echo failed: %s", word)

    (line,) = out.getvalue().splitlines()
    assert line.endswith(word.encode("unicode_escape").decode())
