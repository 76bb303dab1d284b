"""Nothing an act brings back has a secret in it, and no call holds a placeholder."""

from __future__ import annotations

import json
import uuid
from dataclasses import fields
from typing import Any

import pytest

from agentops import redaction
from runs import hiding
from runs.errors import Fatal, Transient
from runs.llm.base import RawCall, Reply
from runs.tools.base import Reconciled, Reconciliation
from runs.work import Give, Raise, Work
from tests.support.canaries import SHAPES

pytestmark = pytest.mark.once

KEY = SHAPES["openai"]
PLACEHOLDER = "[hidden: an API key]"


def brought(act):
    return Work(uuid.UUID(int=1), 3, 1, act, 5.0).perform()


def test_a_result_is_without_secrets():
    found = brought(Give({"rows": [["key", KEY]], KEY: 1})).value

    assert found == {"rows": [["key", PLACEHOLDER]], PLACEHOLDER: 1}


def test_a_reply_is_without_secrets_in_every_part():
    call = RawCall(KEY, KEY, {"a": KEY}, KEY)
    texts: Any = {f.name: KEY for f in fields(Reply) if f.type == "str"}
    reply = Reply(calls=(call,), echo={"reasoning": [KEY]}, **texts)

    found = brought(Give(reply)).value

    assert KEY not in repr(found)
    assert repr(found).count(PLACEHOLDER) == len(texts) + 5


def test_arguments_are_looked_at_as_what_they_say():
    spelt = '{"a": "' + "".join(f"\\u{ord(c):04x}" for c in KEY) + '"}'

    found = brought(Give(Reply(calls=(RawCall("c1", "echo", spelt),)))).value

    assert json.loads(found.calls[0].arguments) == {"a": PLACEHOLDER}


def test_arguments_that_are_no_json_are_without_secrets_too():
    found = brought(Give(Reply(calls=(RawCall("c1", "echo", f'{{"a": "{KEY}'),)))).value

    assert found.calls[0].arguments == f'{{"a": "{PLACEHOLDER}'


def test_arguments_without_secrets_stay_as_the_model_wrote_them():
    odd = '{ "b":1.50, "a":"\\u00e4" }'

    found = brought(Give(Reply(calls=(RawCall("c1", "echo", odd),)))).value

    assert found.calls[0].arguments == odd


def test_what_a_reconciliation_found_is_without_secrets():
    told = Reconciliation(Reconciled.HAPPENED, {"a": KEY}, evidence=KEY)

    found = brought(Give(told)).value

    assert (found.result, found.evidence) == ({"a": PLACEHOLDER}, PLACEHOLDER)


def test_an_error_says_the_same_without_secrets():
    raised = Transient(f"busy with {KEY}", retry_after=3)

    found = brought(Raise(raised)).error

    assert found is raised
    assert (found.message, found.retry_after) == (f"busy with {PLACEHOLDER}", 3)


def test_an_error_nobody_foresaw_is_without_secrets():
    class Broken:
        def __call__(self):
            raise KeyError(KEY)

    found = brought(Broken()).error

    assert isinstance(found, Fatal)
    assert KEY not in found.message


def test_what_was_hidden_is_said_in_the_log(caplog):
    brought(Give({"a": KEY, "b": KEY}))

    assert "hidden in what came back: an API key (2)" in caplog.text


def test_a_result_without_secrets_is_not_even_copied():
    result = {"rows": [[1, "a"]] * 3}

    assert brought(Give(result)).value is result


def test_a_call_that_carries_a_mark_is_named():
    found = hiding.with_placeholders(
        {"a": 1, "b": [f"x {PLACEHOLDER}"], "c": {PLACEHOLDER: 1}}
    )

    assert found == ["b", "c"]
    assert hiding.with_placeholders({"a": "[hidden]"}) == []
    assert redaction.START in PLACEHOLDER
