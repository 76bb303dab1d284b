"""Every line says which run, step and attempt it belongs to."""

from __future__ import annotations

import json
import logging
import logging.config
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest

from agentops import log
from tests.support.canaries import SHAPES


def writing(format_name, monkeypatch):
    """A logger of our own format, and a function that gives all it has written."""
    monkeypatch.setenv("AGENTOPS_LOG", format_name)
    out, made = StringIO(), logging.config.DictConfigurator(log.config())
    handler = logging.StreamHandler(out)
    handler.addFilter(log.ContextFilter())
    config = log.config()["formatters"][format_name]
    handler.setFormatter(made.configure_formatter(config))
    logger = logging.Logger("test")  # noqa: LOG001 - of this test alone
    logger.addHandler(handler)
    return logger, out.getvalue


@pytest.fixture
def lines(monkeypatch):
    """A logger with our filter and JSON format, and what it has written."""
    logger, text = writing("json", monkeypatch)
    return logger, lambda: [json.loads(line) for line in text().splitlines()]


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


@pytest.mark.parametrize("status", [400, 403])
def test_a_refusal_is_one_line(lines, status):
    logger, written = lines
    logger.addFilter(log.WithoutTraceback())

    try:
        raise ValueError("no such host")
    except ValueError:
        logger.exception("Invalid HTTP_HOST header", extra={"status_code": status})

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


# Lines cannot be forged, and hold no secret


KEY = SHAPES["openai"]


@pytest.fixture(params=["plain", "json"])
def written(request, monkeypatch):
    """A logger in either format, and all it has written."""
    return writing(request.param, monkeypatch)


def test_no_secret_is_written(written):
    logger, text = written

    logger.info("the key %s of %s", KEY, {"password": "hunter22"}, extra={"more": KEY})

    assert KEY not in text()
    assert "hunter22" not in text()
    assert "[hidden: an API key]" in text()


def test_no_secret_is_written_with_a_traceback(written):
    logger, text = written

    try:
        raise RuntimeError(f"refused: {KEY}")
    except RuntimeError:
        logger.exception("it failed")

    assert KEY not in text()
    assert "RuntimeError: refused: [hidden: an API key]" in text()


def test_a_text_from_outside_begins_no_line_of_its_own(written):
    logger, text = written

    logger.info("said %s", "x\r\n2026-11-30 10:00:00,000 INFO runs run=- all is well")

    (line,) = text().splitlines()
    assert "all is well" in line


def test_a_text_from_outside_steers_no_terminal_and_turns_nothing_around(written):
    logger, text = written

    logger.info("said %s", "\x1b[2J\x9b1m \u202e\u2066 \u2028 \x7f")

    assert not set("\x1b\x9b\u202e\u2066\u2028\x7f") & set(text())
    assert "\\u202e" in text()


@pytest.mark.parametrize(
    "name", ["django", "django.server", "gunicorn.access", "gunicorn.error"]
)
def test_who_has_handlers_of_its_own_writes_through_ours(name):
    found = log.config()["loggers"][name]

    assert (found["handlers"], found["propagate"]) == ([], True)
