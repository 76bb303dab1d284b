"""Every odd shape of a completion, read into one `Reply`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.canonical import parse_arguments
from runs.errors import (
    ContextTooLong,
    Fatal,
    InvalidCall,
    Refused,
    StepError,
    Transient,
)
from runs.llm.base import RawCall, Reply, Usage
from runs.llm.reply import MAX_CALLS, parse, read_usage
from tests.support.replies import call, calls, completion, text


def read(message: Any, **more: Any) -> Reply:
    return parse(completion(message, **more).body)


def entry(**changes: Any) -> dict[str, Any]:
    return call("echo", {"text": "x"}, id="call_a") | changes


def read_call(changed: Any) -> RawCall:
    (found,) = read({"role": "assistant", "tool_calls": [changed]}).calls
    return found


def test_it_reads_text_usage_and_model() -> None:
    reply = parse(text("Done.").body)

    assert reply == Reply(
        content="Done.",
        finish_reason="stop",
        usage=Usage(input=100, output=20),
        model="scripted-model",
    )


def test_m38_it_keeps_text_beside_calls() -> None:
    reply = parse(calls(entry(), text="I will echo.").body)

    assert reply.content == "I will echo."
    assert reply.calls == (RawCall("call_a", "echo", '{"text": "x"}'),)


def test_m03_arguments_that_are_an_object_become_its_text() -> None:
    changed = entry(function={"name": "echo", "arguments": {"text": "größer\x00"}})

    found = read_call(changed).arguments

    assert found == '{"text": "größer\\u0000"}'
    assert parse_arguments("echo", found) == {"text": "größer\u2400"}


@pytest.mark.parametrize("function", [{"arguments": ""}, {"arguments": None}, {}])
def test_m04_it_lets_missing_arguments_pass(function: dict[str, Any]) -> None:
    found = read_call(entry(function={"name": "echo"} | function))

    assert found.problem == ""
    assert parse_arguments("echo", found.arguments) == {}


@pytest.mark.parametrize("arguments", [{"n": float("nan")}, {"n": [[[]]]}])
def test_m30_it_gives_unfit_objects_to_the_strict_parser(arguments: Any) -> None:
    for _ in range(80):
        arguments = {"n": arguments["n"], "deeper": arguments}

    found = read_call(entry(function={"name": "echo", "arguments": arguments}))

    with pytest.raises(InvalidCall):
        parse_arguments("echo", found.arguments)


@pytest.mark.parametrize("wrong", [{"id": ""}, {"id": None}])
def test_m13_it_gives_an_empty_id_where_there_is_none(wrong: dict[str, Any]) -> None:
    assert read_call(entry(**wrong)).id == ""


def test_m13_it_takes_a_missing_id_and_a_number() -> None:
    assert read_call({k: v for k, v in entry().items() if k != "id"}).id == ""
    assert read_call(entry(id=7)).id == "7"


@pytest.mark.parametrize("finish", ["stop", None, "whatever"])
def test_m18_calls_count_whatever_the_finish_reason(finish: str | None) -> None:
    reply = parse(calls(entry(), finish=finish).body)

    assert [found.name for found in reply.calls] == ["echo"]


@pytest.mark.parametrize("tool_calls", [[], None, "none", 3])
def test_m19_it_takes_no_calls_for_none(tool_calls: Any) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": tool_calls}

    reply = read(message, finish="tool_calls")

    assert (reply.calls, reply.content) == ((), "")


def test_m21_a_filtered_reply_runs_no_calls() -> None:
    with pytest.raises(Refused, match="filter"):
        parse(calls(entry(), finish="content_filter").body)


def test_m21_a_refusal_carries_its_text() -> None:
    with pytest.raises(Refused, match="I cannot help"):
        read({"role": "assistant", "content": None, "refusal": "I cannot help."})


def test_m21_a_refusal_may_be_a_part() -> None:
    parts = [{"type": "refusal", "refusal": "No."}]

    with pytest.raises(Refused, match="No"):
        read({"role": "assistant", "content": parts})


@pytest.mark.parametrize(
    "body",
    [
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"error": {"message": "Overloaded", "code": 529}, "choices": None},
        {"error": "Overloaded"},
        {},
    ],
)
def test_m25_a_reply_without_an_answer_is_transient(body: dict[str, Any]) -> None:
    with pytest.raises(Transient) as caught:
        parse(json.dumps(body).encode())

    assert ("Overloaded" in caught.value.message) == ("error" in body)
    assert caught.value.maybe_billed


@pytest.mark.parametrize("code", [401, 402, 403, 404, "401"])
def test_m25_an_error_inside_a_200_may_be_fatal(code: Any) -> None:
    body = {"error": {"message": "No such user", "code": code}, "choices": None}

    with pytest.raises(Fatal, match="No such user"):
        parse(json.dumps(body).encode())


def test_m25_an_error_inside_a_200_may_be_the_context() -> None:
    body = {"error": {"message": "x", "code": "context_length_exceeded"}}

    with pytest.raises(ContextTooLong):
        parse(json.dumps(body).encode())


def test_m27_it_keeps_reasoning_apart() -> None:
    message = {"role": "assistant", "content": "ok", "reasoning_content": "hmm"}

    reply = read(message)

    assert (reply.content, reply.reasoning, reply.echo) == ("ok", "hmm", {})


@pytest.mark.parametrize(
    "thought", ["hmm", [{"type": "text", "text": "h"}], {"deep": [1.5, None]}]
)
def test_m27_it_keeps_what_is_to_go_back_unchanged(thought: Any) -> None:
    body = completion({"content": "ok", "reasoning_details": thought}).body

    assert parse(body, echo=["reasoning_details", "reasoning"]).echo == {
        "reasoning_details": thought
    }


def test_m31_it_cleans_text() -> None:
    reply = parse(completion({"content": "a\x00b\ud800"}).body)

    assert reply.content == "a\u2400b\ufffd"


def test_m37_it_joins_parts() -> None:
    parts = [{"type": "text", "text": "one "}, "two", None, {"type": "image"}]

    assert read({"content": parts}).content == "one two"


def test_m37_it_notes_entries_that_are_nothing() -> None:
    reply = read({"content": "ok", "tool_calls": [None, entry(), "x"]})

    assert [found.name for found in reply.calls] == ["echo"]
    assert reply.ignored == 2


def test_m37_it_takes_so_many_calls_and_counts_the_others() -> None:
    reply = read({"content": None, "tool_calls": [entry()] * 10_000})

    assert (len(reply.calls), reply.surplus) == (MAX_CALLS, 10_000 - MAX_CALLS)


def test_m37_it_says_why_an_entry_with_an_id_is_no_call() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "shell", "input": "ls"}}

    found = read_call(custom)

    assert (found.id, found.name) == ("c1", "shell")
    assert "custom" in found.problem


def test_m37_a_call_needs_no_type_but_a_function() -> None:
    without_type = {k: v for k, v in entry().items() if k != "type"}

    assert read_call(without_type).problem == ""
    assert read_call({"id": "c1", "type": "function"}).problem


def test_m37_two_choices_are_not_merged() -> None:
    body = json.loads(text("first").body)
    body["choices"].append({"message": {"content": "second"}})

    assert parse(json.dumps(body).encode()).content == "first"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  ",
        b"[]",
        b"42",
        b"null",
        b'"text"',
        b"<html><b>Down</b></html>",
        b'{"choices": [{"mess',
        "café".encode("latin-1"),
        b"\xff\xfe\x00",
        b"[" * 5000 + b"]" * 5000,
        b'{"n": ' + b"9" * 5000 + b"}",
    ],
)
def test_a14_what_is_no_completion_is_transient(body: bytes) -> None:
    with pytest.raises(Transient) as caught:
        parse(body)

    assert len(caught.value.message) <= 500
    assert "<" not in caught.value.message


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(5, 2)),
        ({"prompt_tokens": "5", "completion_tokens": "2"}, Usage(5, 2)),
        ({"prompt_tokens": 5.0, "completion_tokens": 0}, Usage(5, 0)),
        ({"prompt_tokens": 5, "total_tokens": 9}, Usage(5, 4)),
        (
            {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 9},
            Usage(5, 4),
        ),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 1,
                "prompt_tokens_details": {"cached_tokens": 3},
            },
            Usage(5, 1, 3),
        ),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 1,
                "prompt_tokens_details": {"cached_tokens": 70},
            },
            Usage(5, 1, 5),
        ),
        (
            {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": None},
            Usage(5, 1),
        ),
        ({"prompt_tokens": -5, "completion_tokens": 2}, None),
        ({"prompt_tokens": 5, "completion_tokens": -2}, None),
        ({"prompt_tokens": 5, "completion_tokens": -2, "total_tokens": 9}, None),
        ({"prompt_tokens": 5}, None),
        ({"total_tokens": 9}, None),
        ({"prompt_tokens": True, "completion_tokens": 1}, None),
        ({"prompt_tokens": "many", "completion_tokens": 1}, None),
        ({"prompt_tokens": float("nan"), "completion_tokens": 1}, None),
        (None, None),
        ([], None),
        ("5", None),
    ],
)
def test_b04_usage_is_right_or_none(value: Any, expected: Usage | None) -> None:
    assert read_usage(value) == expected


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "type",
                    "function",
                    "name",
                    "arguments",
                    "content",
                    "text",
                    "error",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(message=anything, tool_calls=anything, usage=anything, finish=anything)
def test_nothing_but_step_errors_gets_out(
    message: Any, tool_calls: Any, usage: Any, finish: Any
) -> None:
    if isinstance(message, dict):
        message["tool_calls"] = tool_calls
    body = {
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": usage,
    }

    try:
        reply = parse(json.dumps(body).encode())
    except StepError:
        return

    assert isinstance(reply.content, str)
