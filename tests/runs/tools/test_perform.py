"""Calls keep their deadline, and what comes back has one shape."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from asyncio import CancelledError
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest
from django.db import connection, connections

from runs.errors import (
    Fatal,
    InvalidCall,
    NotSent,
    OutcomeUnknown,
    StepError,
    TimedOut,
    Transient,
)
from runs.tools.base import (
    Context,
    Effect,
    Reconciled,
    Reconciliation,
    ToolSpec,
    tool,
)
from runs.tools.perform import GRACE_S, perform, reconcile
from tests.runs.tools import calls
from tests.runs.tools.calls import context, gone
from tests.support.wait import wait_until


def returns(value: Any) -> ToolSpec:
    @tool(effect=Effect.READ)
    def odd() -> Any:
        """Return something."""
        return value

    return odd


def raises(error: BaseException, effect: Effect = Effect.READ) -> ToolSpec:
    @tool(effect=effect)
    def failing() -> None:
        """Fail."""
        raise error

    return failing


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2024, 9, 30, 12, tzinfo=UTC), "2024-09-30T12:00:00+00:00"),
        (Decimal("1895000.10"), "1895000.10"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (b"\x00\xff", "base64:AP8="),
        ({"b", "a"}, ["a", "b"]),
        (float("nan"), None),
    ],
)
def test_t01_values_that_json_does_not_know_become_json(
    value: Any, expected: Any
) -> None:
    assert perform(returns(value), {}, context()) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a\x00b", "a␀b"), ("a\ud800b", "a\ufffdb"), ({"k\x00": "\x00"}, {"k␀": "␀"})],
)
def test_t09_text_that_no_database_stores_is_replaced(
    value: Any, expected: Any
) -> None:
    assert perform(returns(value), {}, context()) == expected


def test_t04_a_tool_that_sleeps_is_given_up_at_its_deadline() -> None:
    started = time.monotonic()

    with pytest.raises(TimedOut, match="sleeper did not answer"):
        perform(calls.sleeper, {"seconds": 3}, context(0.2))

    assert time.monotonic() - started < 0.2 + GRACE_S + 0.5


def test_t04_after_the_deadline_of_an_irreversible_tool_nobody_knows() -> None:
    with pytest.raises(OutcomeUnknown):
        perform(calls.acting_sleeper, {"seconds": 3}, context(0.2))


@pytest.fixture
def quick_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children that do without Django, which takes most of their start."""
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE")


@pytest.mark.usefixtures("quick_children")
def test_t04_an_isolated_tool_is_killed_with_all_it_started(tmp_path: Path) -> None:
    pid_file = tmp_path / "pids"

    with pytest.raises(TimedOut):
        perform(calls.isolated_sleeper, {"pid_file": str(pid_file)}, context(4))

    pids = [int(pid) for pid in pid_file.read_text().split()]
    wait_until(lambda: all(map(gone, pids)), what="both to be gone")


def test_it_passes_a_call_and_its_result_to_a_child_and_back() -> None:
    result = perform(
        calls.isolated_echo, {"text": "ä\x00"}, context(20, settings={"a": 1})
    )

    assert result == {"text": "ä␀", "key": calls.KEY, "settings": {"a": 1}}


@pytest.mark.usefixtures("quick_children")
def test_errors_of_a_child_keep_their_class_and_attributes() -> None:
    with pytest.raises(Transient, match="busy") as caught:
        perform(calls.isolated_failure, {"kind": "transient"}, context(20))

    assert caught.value.retry_after == 7.5


@pytest.mark.usefixtures("quick_children")
@pytest.mark.parametrize(
    ("kind", "error"), [("invalid", InvalidCall), ("bug", Fatal), ("crash", Fatal)]
)
def test_a_child_that_fails_is_an_error_of_its_kind(
    kind: str, error: type[StepError]
) -> None:
    with pytest.raises(error):
        perform(calls.isolated_failure, {"kind": kind}, context(20))


@pytest.mark.usefixtures("quick_children")
def test_a_child_that_crashes_in_an_act_leaves_the_outcome_unknown() -> None:
    with pytest.raises(OutcomeUnknown, match="ended with"):
        perform(calls.isolated_crash, {}, context(20))


@pytest.mark.usefixtures("quick_children")
def test_children_may_be_started_from_many_threads_at_once() -> None:
    results: list[Any] = []

    def call(number: int) -> None:
        result = perform(calls.isolated_echo, {"text": str(number)}, context(60))
        results.append(result["text"])

    threads = [threading.Thread(target=call, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(results) == ["0", "1", "2", "3", "4", "5"]


PARENT = """
import os, sys, threading
import django
django.setup()
from runs.tools.perform import perform
from tests.runs.tools import calls
if os.fork():
    os.wait()
else:
    arguments = {"pid_file": sys.argv[1]}
    call = lambda: perform(calls.isolated_sleeper, arguments, calls.context(60))
    threading.Thread(target=call).start()
"""


@pytest.fixture
def forked_parent(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    pids = tmp_path / "pids"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(pids)])
    yield parent, pids
    parent.kill()
    parent.wait()


@pytest.mark.process
def test_a_child_dies_with_the_process_that_was_killed(
    forked_parent: tuple[subprocess.Popen[bytes], Path],
) -> None:
    parent, pids = forked_parent
    wait_until(lambda: pids.exists() and pids.read_text(), timeout_s=20)
    child, grandchild = map(int, pids.read_text().split())
    try:
        worker = psutil.Process(parent.pid).children()[0]
        worker.send_signal(signal.SIGKILL)

        wait_until(lambda: gone(child), what="the child to be gone")
    finally:
        os.kill(grandchild, signal.SIGKILL)


def test_any_other_exception_is_fatal() -> None:
    with pytest.raises(Fatal, match="KeyError: 'lost'"):
        perform(raises(KeyError("lost")), {}, context())


def test_an_exit_of_a_tool_does_not_end_the_program() -> None:
    with pytest.raises(Fatal, match="end the program"):
        perform(raises(SystemExit(1)), {}, context())


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (NotSent("refused"), NotSent),
        (InvalidCall("no"), InvalidCall),
        (Fatal("no"), Fatal),
        (Transient("reset"), OutcomeUnknown),
        (TimedOut("late"), OutcomeUnknown),
        (KeyError("bug"), OutcomeUnknown),
    ],
)
def test_an_irreversible_call_claims_no_more_than_it_knows(
    error: Exception, expected: type[StepError]
) -> None:
    with pytest.raises(StepError) as caught:
        perform(raises(error, Effect.IRREVERSIBLE), {}, context())

    assert type(caught.value) is expected


def test_nothing_begins_after_the_deadline() -> None:
    with pytest.raises(TimedOut):
        perform(returns(1), {}, context(-1))
    with pytest.raises(NotSent):
        perform(calls.acting_sleeper, {"seconds": 0}, context(-1))


def test_a_tool_that_a_person_answers_is_never_performed() -> None:
    from runs.tools.ask_human import ask_human

    with pytest.raises(Fatal):
        perform(ask_human, {"question": "Go?"}, context())


def test_wrong_arguments_are_told_to_the_model() -> None:
    with pytest.raises(InvalidCall, match="seconds"):
        perform(calls.sleeper, {"seconds": "soon"}, context())


def test_the_settings_are_asked_before_the_call() -> None:
    def refuse(arguments: Any, settings: Any) -> None:
        raise InvalidCall("not allowed here")

    @tool(effect=Effect.READ, check=refuse)
    def checked() -> str:
        """Never reached."""
        raise AssertionError

    with pytest.raises(InvalidCall, match="not allowed here"):
        perform(checked, {}, context())


@pytest.mark.django_db(transaction=True)
def test_connections_that_a_tool_opened_are_closed() -> None:
    seen: list[Any] = []

    @tool(effect=Effect.READ)
    def counting() -> int:
        """Ask the database."""
        seen.append(connections["default"])
        with connection.cursor() as cursor:
            cursor.execute("SELECT 41 + 1")
            return int(cursor.fetchone()[0])

    assert perform(counting, {}, context()) == 42
    assert seen[0].connection is None


@pytest.mark.django_db
def test_connections_that_were_open_before_stay_open() -> None:
    @tool(effect=Effect.READ, keeps_deadline=True)
    def counting() -> int:
        """Ask the database."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT 41 + 1")
            return int(cursor.fetchone()[0])

    connection.ensure_connection()

    assert perform(counting, {}, context()) == 42
    assert connection.connection is not None


def test_reconcile_says_unknown_when_the_tool_cannot_tell_or_fails() -> None:
    def fail(arguments: Any, context: Context) -> Reconciliation:
        raise OSError("no mailbox")

    @tool(effect=Effect.IRREVERSIBLE, reconcile=fail)
    def failing() -> None:
        """Act."""

    assert reconcile(failing, {}, context()).outcome is Reconciled.UNKNOWN
    assert "no mailbox" in reconcile(failing, {}, context()).evidence
    assert reconcile(calls.sleeper, {}, context()).outcome is Reconciled.UNKNOWN


ENDINGS = [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), CancelledError()]


@pytest.mark.parametrize("ending", ENDINGS, ids=repr)
@pytest.mark.parametrize("keeps_deadline", [False, True])
def test_a_tool_that_tries_to_end_the_program_has_failed(
    ending: BaseException, keeps_deadline: bool
) -> None:
    spec = replace(raises(ending), keeps_deadline=keeps_deadline)

    with pytest.raises(Fatal, match="tried to end the program"):
        perform(spec, {}, context())


@pytest.mark.parametrize("ending", ENDINGS, ids=repr)
def test_nobody_knows_what_an_act_did_before_it_tried_to_end_the_program(
    ending: BaseException,
) -> None:
    with pytest.raises(OutcomeUnknown, match="tried to end the program"):
        perform(raises(ending, Effect.IRREVERSIBLE), {}, context())


class Untold(Exception):
    """Its text cannot be made."""

    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("effect", "kind"),
    [(Effect.READ, Fatal), (Effect.IRREVERSIBLE, OutcomeUnknown)],
)
def test_an_error_that_has_no_words_is_named_by_its_class(
    effect: Effect, kind: type[StepError]
) -> None:
    with pytest.raises(kind, match=r"^Untold$"):
        perform(raises(Untold(), effect), {}, context())
