"""Cases M, and more of their kinds: arguments, names, ids, calls and usage."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from reviews.models import Review
from runs.canonical import MAX_ARGUMENTS
from runs.conversation import MAX_SAID
from runs.gates import MAX_SPOKEN
from runs.llm.reply import MAX_CALLS
from runs.services import start
from tests.cases.conftest import case_agent
from tests.cases.playing import DONE, echoed, entry, play
from tests.support.acts import acts
from tests.support.replies import call, calls, check, completion, text

pytestmark = pytest.mark.django_db

NO_OBJECT = [
    '{"what": "x",}',
    '{"what": "x"} // that is it',
    '/* here */ {"what": "x"}',
    "{'what': 'x'}",
    '{what: "x"}',
    '{"what": "x"}{"what": "y"}',
    '{"what": "x"}\n{"what": "y"}',
    '\ufeff{"what": "x"}',
    '{"what": "x"',
    '{"what": "a\nb"}',
    '{"what": "\\x41"}',
    '{"what": "x"}\x00',
    '"{\\"what\\": \\"x\\"}"',
    '<call>{"what": "x"}</call>',
    "undefined",
    "None",
    '[{"what": "x"}]',
]
NO_NUMBERS = ["1e400", "-1E+999999999", "NaN", "0x10", "01", "+1", ".5", "9" * 5000]
AMBIGUOUS = [
    '{"what": "x", "what": "y"}',
    '{"what": "x", "what\\u0000": "y", "what␀": "z"}',
    '{"what": {"to": "ana", "to": "ben"}}',
]
BEYOND_MEASURE = [
    '{"what": %s}' % ("9" * 2000),
    '{"what": %s}' % ("[" * 200 + "]" * 200),
    '{"what": "%s"}' % ("x" * MAX_ARGUMENTS),
]


@pytest.fixture
def patient(boss):
    """A run that may take many steps."""
    return start(agent=case_agent(limits={"steps": 200}), by=boss, task="Work")


def test_m01_what_is_no_json_object_runs_nothing(patient):
    numbers = [f'{{"what": {number}}}' for number in NO_NUMBERS]
    bad = [*NO_OBJECT, *numbers, *AMBIGUOUS, *BEYOND_MEASURE]

    run, model = play(patient, calls(*[call("post", raw) for raw in bad]), DONE)

    told = model.requests[1].tool_results
    assert (run.state, acts()) == ("completed", [])
    assert len(told) == len(bad)
    assert [said for said in told if "The arguments of post are" not in said] == []
    assert max(map(len, told)) < 800


def test_m01_what_only_looks_odd_runs_as_it_is(patient):
    texts = ["[" * 3000, "a\u202eb\u200bc", "é漢🙂", "\\u0000", "</script>", "'--", ""]
    odd = [call("echo", json.dumps({"text": said})) for said in texts]

    _, model = play(patient, calls(*odd), DONE)

    assert [echoed(said) for said in model.requests[1].tool_results] == texts


def test_m30_numbers_are_the_same_when_they_come_back(patient):
    given = [0, -0.0, 2**63, 10**30, 1e16, 1.5e300, 5e-324, 9007199254740993]
    sent = json.dumps({"text": "x", "more": given})

    _, model = play(patient, calls(call("echo", sent)), DONE)

    history = model.requests[1].messages[-2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(history)["more"] == given


NAMES = ["", " echo", "echo\n", "ECHO", "ech\u043e", "\u200becho", "\u202eohce", "\x00"]
NO_NAMES: list[Any] = [
    "\ud800",
    "functions.echo",
    "<script>",
    "x" * 10_000,
    None,
    7,
    [],
    True,
]


def test_m10_no_name_but_its_own_calls_a_tool(patient, client, boss):
    named = [
        {"id": f"c{place}", "type": "function", "function": {"name": name}}
        for place, name in enumerate([*NAMES, *NO_NAMES])
    ]

    run, model = play(patient, calls(*named), DONE)

    told = model.requests[1].tool_results
    assert all(said.startswith("Error: There is no tool ") for said in told)
    assert max(map(len, told)) < 400
    client.force_login(boss)
    page = client.get(reverse("runs:detail", args=[run.pk])).content.decode()
    assert "<script>" not in page.partition("<main")[2]


IDS: list[Any] = [
    "",
    "\x00",
    "\ud800",
    "x" * 10_000,
    "a b",
    "c\n",
    "é",
    True,
    1.5,
    [],
    {},
    10**50,
]


def test_m13_every_call_gets_an_answer_whatever_its_id(patient):
    same = ["c1", "c1", "call_1_3"]
    odd = [
        entry("echo", id=given, arguments=json.dumps({"text": str(place)}))
        for place, given in enumerate([*same, *IDS])
    ]

    _, model = play(patient, calls(*odd), DONE)

    told = model.requests[1].tool_results
    assert [echoed(said) for said in told] == [str(n) for n in range(len(odd))]


def test_m13_ids_that_come_again_in_a_later_turn_are_told_apart(run):
    again = [calls(entry("echo", arguments=f'{{"text": "{n}"}}')) for n in "ab"]

    run, model = play(run, *again, DONE)

    ids = [m["tool_call_id"] for m in model.requests[2].messages if m["role"] == "tool"]
    assert [echoed(said) for said in model.requests[2].tool_results] == ["a", "b"]
    assert len(set(ids)) == 2


def test_m37_ten_thousand_calls_are_not_all_looked_at(patient):
    many = [entry("ping", id=f"c{place}") for place in range(10_000)]

    run, model = play(patient, calls(*many), DONE)

    assert run.steps_used == MAX_CALLS + 2
    assert "the last 9900 were ignored" in model.requests[1].messages[-1]["content"]


@pytest.mark.parametrize(
    "parts",
    [
        [
            {"type": "image_url", "image_url": {"url": "x"}},
            {"type": "text", "text": "D"},
        ],
        [{"type": "output_text", "text": "D"}, {"type": "unknown"}, 7, [], True],
        [{"text": {"value": "no text"}}, "D"],
    ],
)
def test_m37_parts_of_unknown_kinds_are_left_out(run, parts):
    run, _ = play(run, completion({"role": "assistant", "content": parts}))

    assert run.output == "D"


@pytest.mark.parametrize("role", ["user", "tool", "system", None, 7, "\x00"])
def test_m37_whatever_its_role_is_said_to_be_a_reply_is_the_models(run, role):
    message = {"role": role, "content": None, "tool_calls": [call("ping")]}

    run, model = play(run, completion(message), DONE)

    assert model.requests[1].messages[-2]["role"] == "assistant"
    assert run.state == "completed"


def test_m37_only_the_first_choice_counts(run):
    second = {
        "index": 1,
        "message": {"role": "assistant", "tool_calls": [call("post")]},
    }
    first = json.loads(DONE.body)["choices"][0]

    run, _ = play(run, completion(None, choices=[first, second]))

    assert (run.output, acts()) == ("Done.", [])


@pytest.mark.parametrize(
    "fields",
    [
        {"model": None, "id": 7, "created": "today", "object": []},
        {"model": {"name": "x"}, "system_fingerprint": float("nan")},
        {"model": "x" * 10_000, "\x00": "\ud800", "service_tier": {}},
        {"model": "\x00\ud800"},
    ],
)
def test_m27_other_fields_may_be_of_any_type(run, fields):
    message = {"role": "assistant", "content": "Done."}

    run, _ = play(run, completion(message, **{"model": "m"} | fields))

    assert run.output == "Done."


LONG = "long " * 200_000


@pytest.mark.parametrize(
    "script",
    [
        [calls(("echo", {"text": LONG}))],
        [calls(("ping", {}), text=LONG)],
        [calls(call("echo", "{" + LONG)), calls(("ping", {}))],
        [calls(call(LONG, {}))],
        [calls(("odd", {"kind": "long"}))],
    ],
    ids=["arguments", "text", "broken", "name", "result"],
)
def test_m34_the_next_request_is_no_larger_for_it(run, script):
    run, model = play(run, *script, DONE)

    assert run.state == "completed"
    assert len(json.dumps(model.bodies[-1])) < MAX_SAID + 30_000


def test_m34_what_a_reviewer_sees_first_is_bounded(run, client, boss):
    run, _ = play(run, calls(("post", {"what": "x"}), text=LONG), check(0.2))

    client.force_login(boss)
    review = Review.objects.get()
    page = client.get(reverse("reviews:detail", args=[review.pk])).content.decode()
    assert len(run.park["reasoning"]) == MAX_SPOKEN
    assert run.park["reasoning"].endswith("…")
    assert len(page) < 200_000


def test_m34_a_runs_page_cuts_what_is_long_and_leads_to_the_whole(run, client, boss):
    run, _ = play(run, calls(call("echo", "{" + LONG)), text(LONG))

    client.force_login(boss)
    steps = client.get(reverse("runs:steps", args=[run.pk])).content.decode()
    whole = client.get(reverse("runs:step", args=[run.pk, 1])).content.decode()
    assert len(steps) < 200_000
    assert "characters more" in steps
    assert whole.count("long ") >= 200_000


@pytest.mark.parametrize(
    "given",
    [
        {"prompt_tokens": 1.5, "completion_tokens": "2"},
        {"prompt_tokens": True, "completion_tokens": False},
        {"prompt_tokens": "1e3", "completion_tokens": "-5"},
        {"prompt_tokens": 10**400, "completion_tokens": 1},
        {"prompt_tokens": float("inf"), "completion_tokens": 1},
        {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": -9},
        {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10**30},
        {"prompt_tokens": [5], "completion_tokens": {"n": 5}},
        {
            "prompt_tokens": 5,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": -7},
        },
        {"prompt_tokens": 5, "completion_tokens": 5, "prompt_tokens_details": [1]},
    ],
)
def test_b04_usage_of_any_type_is_no_reason_to_fail(run, given):
    run, _ = play(run, text("Done.", usage=given))

    step = run.steps.get()
    assert run.state == "completed"
    assert 0 <= step.cached_tokens <= step.input_tokens < 10**9
    assert 0 < step.input_tokens + step.output_tokens == run.tokens
