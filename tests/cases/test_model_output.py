"""Cases M: what models answer, and what becomes of the run."""

from __future__ import annotations

import json

import pytest

from reviews.models import Review
from runs import policy
from runs.canonical import idempotency_key
from runs.history import prompt_of
from runs.llm.openai import OpenAIClient
from runs.llm.registry import using
from runs.models import Effect, Step, Tool
from runs.services import start
from runs.values import VerdictKind
from tests.cases.conftest import case_agent
from tests.cases.playing import DONE, echoed, entry, play
from tests.flows.conftest import decide
from tests.support.acts import acts
from tests.support.advance import advance, provider, settle
from tests.support.provider import BASE_URL, ScriptedProvider
from tests.support.replies import call, calls, check, completion, error, json_body

pytestmark = pytest.mark.django_db


def test_m01_broken_arguments_are_fed_back_and_siblings_run(run):
    broken = call("post", '{"{"text": 1}' + "x" * 5000, id="bad")

    run, model = play(run, calls(broken, ("echo", {"text": "b"})), DONE)

    *_, answer, sibling = model.requests[1].messages
    assert (run.state, run.steps_used, acts()) == ("completed", 4, [])
    assert answer["tool_call_id"] == "bad"
    assert "The arguments of post are not valid JSON" in answer["content"]
    assert "char 4" in answer["content"]
    assert 400 < answer["content"].count("x") <= 500
    assert echoed(sibling["content"]) == "b"


@pytest.mark.parametrize("most", [1, 3])
def test_m01_bad_turns_in_a_row_park(run, configured, most):
    configured(max_invalid_in_a_row=most)

    run, model = play(run, then=calls(call("echo", '{"{"')))

    assert run.park_reason == "invalid_calls"
    assert len(model.requests) == most


def test_m03_arguments_that_are_an_object_run_and_go_back_as_text(run):
    run, model = play(run, calls(entry("echo", arguments={"text": "x"})), DONE)

    sent = model.requests[1].messages[-2]["tool_calls"][0]["function"]["arguments"]
    assert sent == '{"text":"x"}'
    assert echoed(model.requests[1].tool_results[0]) == "x"
    assert run.steps.filter(kind="tool", status="succeeded").count() == 1
    assert run.state == "completed"


@pytest.mark.parametrize("given", [{"arguments": ""}, {"arguments": None}, {}])
def test_m04_no_arguments_count_as_an_empty_object(run, given):
    script = [calls(entry("ping", **given), entry("echo", id="c2", **given)), DONE]

    run, model = play(run, *script)

    pong, fed_back = model.requests[1].tool_results
    assert pong == "pong"
    assert "text: Field required" in fed_back
    assert run.steps.filter(name="ping").count() == 1


@pytest.mark.parametrize(
    "raw",
    [
        '{"text": "x"} That is it.',
        '```json\n{"text": "x"}\n```',
        "{'text': 'x', 'really': True}",
    ],
)
def test_m07_arguments_with_something_around_them_are_fed_back(run, raw):
    script = [calls(("echo", {"text": "first"})), calls(call("echo", raw)), DONE]

    run, model = play(run, *script)

    kept, fed_back = model.requests[2].tool_results
    assert echoed(kept) == "first"
    assert "not valid JSON" in fed_back
    assert run.state == "completed"


@pytest.mark.parametrize("raw", ["[1]", "42", "null", '"text"', "true"])
def test_m08_arguments_that_are_no_object_are_fed_back(run, raw):
    run, model = play(run, calls(call("echo", raw)), DONE)

    assert "not a JSON object" in model.requests[1].tool_results[0]
    assert run.state == "completed"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({}, "what:"), ({"what": 7}, "what:"), ({"what": "x", "more": 1}, "more:")],
)
def test_m09_an_invalid_call_is_neither_checked_nor_shown_to_anybody(
    run, arguments, field
):
    run, model = play(run, calls(("post", arguments)), DONE)

    assert field in model.requests[1].tool_results[0]
    assert not Step.objects.filter(kind="check").exists()
    assert not Review.objects.exists()
    assert (run.state, acts()) == ("completed", [])


@pytest.mark.parametrize("asks", ["ask_below", "always"])
def test_m10_an_unknown_tool_is_answered_with_those_there_are(boss, asks):
    grants = {name: {"policy": asks} for name in ("echo", "post")}
    run = start(agent=case_agent(grants=grants), by=boss, task="Work")

    run, model = play(run, then=calls(("no_such_tool", {})))

    assert "Tools: echo, post." in model.requests[1].tool_results[0]
    assert (run.park_reason, len(model.requests)) == ("invalid_calls", 3)


@pytest.mark.parametrize("given", ["", None, "absent", "a b", "x" * 200])
def test_m13_a_call_without_a_usable_id_gets_ours_and_the_key_is_its_own(run, given):
    letter = entry("post", id=given, arguments='{"what": "x"}')
    if given == "absent":
        del letter["id"]

    run, model = play(run, calls(letter), check(0.9), DONE)

    *_, assistant, answer = model.requests[-1].messages
    assert assistant["tool_calls"][0]["id"] == answer["tool_call_id"] != given
    key = idempotency_key(str(run.pk), "post", {"what": "x"}, 1)
    assert [act["key"] for act in acts()] == [key]


def test_m13_an_id_of_ours_is_the_same_in_every_try_and_after_a_death(run):
    letter = calls(entry("post", id="", arguments='{"what": "x"}'))

    with provider(error(503), letter, check(0.9), DONE) as model:
        run = settle(advance(run, steps=2))

    *_, assistant, answer = model.requests[-1].messages
    assert run.steps.get(number=1).attempts == 2
    assert assistant["tool_calls"][0]["id"] == answer["tool_call_id"] == "call_1_1"


def test_m15_the_same_act_twice_in_one_turn_runs_once_without_a_person(run, boss):
    twice = calls(("post", {"what": "x"}), ("post", {"what": "x"}))

    with provider(twice, check(0.99), DONE) as model:
        run = settle(run)
        parked = (run.park_reason, len(acts()))
        decide(run, boss, VerdictKind.REJECT, text="Once is enough.")
        run = settle(run)

    assert parked == ("repeated_call", 1)
    assert len(model.requests[-1].tool_results) == 2
    assert len(acts()) == 1


def test_m16_two_calls_of_one_tool_both_run_in_order(run):
    script = [calls(("echo", {"text": "X"}), ("echo", {"text": "Y"})), DONE]

    run, model = play(run, *script)

    *_, assistant, first, second = model.requests[1].messages
    assert [echoed(said["content"]) for said in (first, second)] == ["X", "Y"]
    assert [made["id"] for made in assistant["tool_calls"]] == [
        said["tool_call_id"] for said in (first, second)
    ]


def test_m17_one_failed_call_takes_nothing_from_the_others(run):
    script = [calls(("picky", {"text": "a"}), ("echo", {"text": "b"})), DONE]

    run, model = play(run, *script)

    assert model.requests[1].tool_results[0] == "Error: not like that"
    assert echoed(model.requests[1].tool_results[1]) == "b"
    assert run.state == "completed"


def test_m17_a_call_that_parks_takes_nothing_from_the_others_either(run, boss):
    script = [calls(("echo", {"text": "a"}), ("broken", {"text": "b"})), DONE]

    with provider(*script) as model:
        run = settle(run)
        decide(run, boss, VerdictKind.GUIDE, text="Leave it.")
        run = settle(run)

    kept, told = model.requests[1].tool_results
    assert (echoed(kept), run.state) == ("a", "completed")
    assert "Leave it." in model.requests[1].messages[-1]["content"] + told


@pytest.mark.parametrize("finish", ["stop", None, "eos", "length", "", 7, []])
def test_m18_calls_decide_whatever_the_finish_reason(run, finish):
    run, model = play(run, calls(("echo", {"text": "x"}), finish=finish), DONE)

    assert echoed(model.requests[1].tool_results[0]) == "x"
    assert run.output == "Done."


LEGACY = {"function_call": {"name": "post", "arguments": '{"what": "x"}'}}


@pytest.mark.parametrize("content", [None, "I will look it up."])
@pytest.mark.parametrize("entries", [{"tool_calls": []}, {}, LEGACY])
def test_m19_an_announced_call_that_is_none_is_no_answer(run, content, entries):
    message = {"role": "assistant", "content": content, **entries}
    reply = completion(message, finish="tool_calls")

    run, model = play(run, reply, reply)

    assert (run.park_reason, run.steps_used) == ("no_progress", 2)
    assert len(model.requests) == 2
    assert model.requests[1].messages[-1]["role"] == "user"
    assert acts() == []


@pytest.mark.parametrize("most", [0, 2])
def test_m19_so_many_nudges_as_are_set(run, configured, most):
    configured(max_nudges=most)
    empty = completion({"role": "assistant", "content": ""}, finish="tool_calls")

    run, model = play(run, then=empty)

    assert (run.park_reason, len(model.requests)) == ("no_progress", most + 1)


def test_m19_a_run_that_was_nudged_goes_on(run):
    empty = completion({"role": "assistant", "content": None}, finish="tool_calls")

    run, _ = play(run, empty, DONE)

    assert (run.state, run.steps_used) == ("completed", 2)


@pytest.mark.parametrize(
    ("message", "finish", "told"),
    [
        ({"content": ""}, "content_filter", "filter"),
        ({"content": None}, "content_filter", "filter"),
        ({"content": [{"type": "refusal", "refusal": "Not I."}]}, "stop", "Not I."),
        ({"content": "Sure.", "refusal": "I will not."}, "stop", "I will not."),
        ({"content": None, "refusal": "I will not."}, "stop", "I will not."),
        (
            {"content": None, "tool_calls": [call("post", {"what": "x"})]},
            "content_filter",
            "filter",
        ),
    ],
)
def test_m21_a_refusal_parks_after_one_request(run, message, finish, told):
    reply = completion({"role": "assistant", **message}, finish=finish)

    run, model = play(run, reply)

    assert (run.state, run.park_reason) == ("awaiting_human", "refused")
    assert (len(model.requests), acts()) == (1, [])
    assert told in run.park["question"]


@pytest.mark.parametrize("content", [None, "", "  \n"])
def test_m22_an_empty_reply_is_nudged_then_parked(run, content):
    empty = completion({"role": "assistant", "content": content})

    run, model = play(run, empty, empty)

    assert (run.state, run.park_reason) == ("awaiting_human", "no_progress")
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    "body",
    [
        {"choices": None},
        {"choices": []},
        {"choices": [{"message": None}]},
        {"choices": [None]},
        {"choices": "none"},
        {"choices": {"message": {"content": "x"}}},
        [],
        {},
    ],
)
def test_m25_a_reply_without_an_answer_is_tried_again_then_parked(run, body):
    run, model = play(run, then=json_body(body))

    assert (run.park_reason, len(model.requests)) == ("retries", 5)
    assert run.park["error"]["class"] == "transient"


@pytest.mark.parametrize(
    "error", ["upstream is gone", {"message": "upstream is gone", "code": 502}]
)
def test_m25_what_the_endpoint_says_instead_of_an_answer_is_kept(run, error):
    run, model = play(run, then=json_body({"error": error, "choices": None}))

    assert (run.park_reason, len(model.requests)) == ("retries", 5)
    assert "upstream is gone" in run.park["error"]["text"]


@pytest.mark.parametrize("code", [401, "402", 403, 404])
def test_m25_an_error_object_that_says_forbidden_is_fatal(run, code):
    body = {"error": {"message": "no such model here", "code": code}}

    run, model = play(run, json_body(body))

    assert (run.park_reason, len(model.requests)) == ("fatal", 1)
    assert "no such model here" in run.park["question"]


def test_m27_unknown_fields_neither_crash_nor_come_back(run):
    message = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Let me think.",
        "audio": {"id": "a"},
        "tool_calls": [{**call("echo", {"text": "x"}), "index": 0}],
    }

    run, model = play(run, completion(message), DONE)

    assert set(model.requests[1].messages[-2]) == {"role", "content", "tool_calls"}
    assert run.steps.get(number=1).response["reasoning"] == "Let me think."


def test_m27_what_an_endpoint_wants_back_goes_back_unchanged(run):
    thought = [{"type": "reasoning.text", "text": "Let me think.", "signature": "Zm8="}]
    message = {"role": "assistant", "content": None, "reasoning_details": thought}
    message["tool_calls"] = [call("echo", {"text": "x"})]
    scripted = ScriptedProvider(
        completion(message), DONE, more_message_fields=frozenset({"reasoning_details"})
    )

    with using(wanting(scripted, "reasoning_details")):
        run = settle(advance(run, steps=2))

    scripted.assert_clean()
    assert scripted.requests[1].messages[-2]["reasoning_details"] == thought
    assert prompt_of(run, 3) == scripted.requests[1].messages


def test_m27_thoughts_about_a_plan_go_back_too(boss):
    run = start(agent=case_agent(plan_first=True), by=boss, task="Work")
    planned = {"items": [{"text": "Do it"}]}
    message = {"content": json.dumps(planned), "reasoning_content": "Hm."}
    scripted = ScriptedProvider(completion(message), DONE, strict=False)

    with using(wanting(scripted, "reasoning_content")):
        settle(run)

    assert scripted.requests[1].messages[-2]["reasoning_content"] == "Hm."


def wanting(scripted, *echo):
    return OpenAIClient(BASE_URL, "sk-test", transport=scripted.transport, echo=echo)


def test_m10_a_tool_that_was_blocked_meanwhile_is_none(run):
    Tool.objects.update_or_create(name="echo", defaults={"policy": "blocked"})
    policy.forget()

    run, model = play(run, calls(("echo", {"text": "x"})), DONE)

    assert "There is no tool 'echo' here" in model.requests[1].tool_results[0]
    assert not Effect.objects.exists()


def test_m25_a_provider_that_comes_back_is_used(run):
    run, _ = play(run, error(503), json_body({"choices": None}), DONE)

    assert run.state == "completed"
    assert run.steps.get().attempts == 3
