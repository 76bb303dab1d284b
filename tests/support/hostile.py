"""One installation in which every text that comes from outside is hostile."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse

from agentops import clock
from reviews.models import Review, Route
from runs import guidance
from runs.errors import InvalidCall
from runs.models import Agent, Run
from runs.services import cancel, start
from runs.tools import registry
from runs.tools.base import Effect, tool
from tests.support import acts, factory
from tests.support.advance import provider, settle
from tests.support.provider import Entry
from tests.support.replies import call, calls, check, completion, error, plan, text

Say = Callable[[str], str]

ATTACKS = (
    "\u202ex\u200b\x1b \"'><script src=//evil.example/{0}></script><img src=x onerror=pwned('{0}')>"
    "<svg/onload=pwned(1)><math><mtext></form><form action=//evil.example><input name=act>"
    "<a href=javascript:pwned(2) id=decide-approve class='btn btn-primary' hx-post=/x"
    " hx-trigger=load data-once>Approve</a><meta http-equiv=refresh content=0;url=//e.io>"
    "<style>*{{color:red}}</style><iframe srcdoc='<script>pwned(3)</script>'></iframe>"
    "--><!-- {{{{ 7|add:7 }}}} {{% debug %}} <!channel> <https://evil.example|Approve here>"
    " &lt;b&gt; \u0430pprove.example"
)
MARKDOWN = (
    '\n\n[Approve](javascript:pwned(4)) [Approve here](https://evil.example/{0} "Approve")'
    " [Undo](/reviews/) [x](//evil.example) [d](data:text/html,<script>pwned(5)</script>)"
    " ![t](https://evil.example/{0}.png) <https://evil.example/auto> \u202e[a](http://b.c)\n\n"
    '<details id="decide-approve" open><summary>x</summary></details>\n\n'
    "| a | b |\n|--:|---|\n| <b onclick=pwned(6)>1</b> | [k](vbscript:x) |\n\n"
    "[ref]: javascript:pwned(7)\n\n[ref] `</code><script>pwned(8)</script>`\n"
)
"""What Markdown may do worse than plain text; each piece also stands for itself."""


def hostile(name: str) -> str:
    """The attacks, with the name of the field in them."""
    return f"{name} {ATTACKS.format(name)}"


def harmless(name: str) -> str:
    """As long, with the same line ends; nothing in it has a meaning anywhere."""
    return re.sub(r"[^A-Za-z0-9\s]", "x", hostile(name))


def prose(say: Say, name: str) -> str:
    more = MARKDOWN.format(name)
    return say(name) + (
        more if say is hostile else re.sub(r"[^A-Za-z0-9\s]", "x", more)
    )


@tool(
    effect=Effect.READ,
    untrusted=True,
    describe=lambda arguments: f"Fetch {arguments['what']}",
)
def fetch(what: str, more: dict[str, Any] | None = None) -> Any:
    """Bring back what a page says."""
    if what.startswith("refuse"):
        raise InvalidCall(what)
    if what.startswith("rows"):
        return {"columns": [what, "n"], "rows": [[what, 1], [what, 2]], what: what}
    return what


TOOLS = (*acts.ALL, fetch)


def people(say: Say) -> tuple[User, User]:
    """Who asks and who decides; names are what people write in their profile."""
    asker = User.objects.create_superuser("asker")
    boss = User.objects.create_superuser("boss", "boss@example.com")
    for person in (asker, boss):
        person.first_name, person.last_name = say("first")[:140], say("last")[:140]
        person.save()
    Route.objects.create(person=boss, channel="email", address="boss@example.com")
    return asker, boss


def agent(say: Say) -> Agent:
    grants = {name: {"policy": "auto"} for name in ("fetch", "ask_human", "escalate")}
    grants["post"] = {"policy": "ask_below"}
    return Agent.objects.create(
        slug="hostile",
        name=say("agent")[:90],
        prompt=say("prompt"),
        grants=grants,
        review_when=[say("rule")[:200]],
        input_schema={
            "type": "object",
            "properties": {"who": {"type": "string", "title": say("label")[:80]}},
        },
        task_template="Do it for {who}",
    )


def _reads(say: Say) -> list[Entry]:
    """A plan, words, an endpoint's error, calls of every kind and their answers."""
    odd = call("fetch", {"what": say("argument"), "more": {say("key"): say("value")}})
    return [
        plan(say("plan")[:400], say("plan b")[:400], model=say("model")),
        error(500, message=say("endpoint")),
        calls(
            odd | {"id": say("id")},
            ("fetch", {"what": f"rows {say('result')}", "plan_item": 1}),
            text=prose(say, "words"),
            model=say("model"),
            finish=say("finish"),
        ),
        calls(
            ("fetch", {"what": f"refuse {say('tool error')}", "plan_item": 2}),
            (say("tool"), {say("argument name"): 1}),
        ),
        calls(("fetch", {"what": say("again")})),
        calls(("fetch", f'{{"what": {say("no JSON")}')),
    ]


def _act(say: Say) -> list[Entry]:
    return [
        calls(("post", {"what": prose(say, "act")}), text=say("why")),
    ]


def waiting_to_act(say: Say, who: Agent, by: User) -> Run:
    """Parked with a call; what a check said of it stands beside it."""
    return _play(say, who, by, *_reads(say), *_act(say))


def judged(say: Say, who: Agent, by: User) -> Run:
    """Parked because a check is unsure."""
    said = check(
        0.3,
        rules=[1],
        rationale=say("rationale"),
        will_do=say("will do"),
        side_effects=[say("side effect")],
    )
    return _play(say, who, by, plan("Post"), *_act(say), said)


def asking(say: Say, who: Agent, by: User) -> Run:
    options = [say("option")[:190], say("other option")[:190]]
    asked = ("ask_human", {"question": prose(say, "question"), "options": options})
    return _play(say, who, by, plan("Ask"), calls(asked))


def refused(say: Say, who: Agent, by: User) -> Run:
    message = {"role": "assistant", "content": None, "refusal": say("refusal")}
    return _play(say, who, by, plan("Ask"), completion(message))


def answered(say: Say, who: Agent, by: User) -> Run:
    first = calls(("fetch", {"what": "x", "plan_item": 1}))
    answer = text(prose(say, "answer"))
    return _play(say, who, by, plan("Answer"), first, answer, check(0.99))


def ended(say: Say, who: Agent, by: User) -> Run:
    run = start(agent=who, by=by, task=say("task"), inputs={"who": say("input")})
    cancel(run.pk, by=by, reason=say("reason"))
    return run


def _play(say: Say, who: Agent, by: User, *script: Entry) -> Run:
    task = prose(say, "task")
    with provider(*script, then=check(0.2)):
        return settle(start(agent=who, by=by, task=task, inputs={"who": say("input")}))


def tell(say: Say, client: Any) -> None:
    """Runs in every state, with notes, drafts, decisions and kept guidance."""
    asker, boss = people(say)
    client.force_login(boss)
    who = agent(say)
    guidance.keep(say("guidance"), by=boss, at=clock.now(), agent=who)
    waiting_to_act(say, who, asker)
    judged(say, who, asker)
    asking(say, who, asker)
    refused(say, who, asker)
    answered(say, who, asker)
    ended(say, who, asker)
    waiting = list(Review.objects.open())
    for review in waiting:
        _visit(say, client, review)
    acting = next(review for review in waiting if review.tool == "post")
    _post(client, acting, "decide", "reject", text=say("decision"))


def _visit(say: Say, client: Any, review: Review) -> None:
    _post(client, review, "notes", text=say("note"))
    _post(client, review, "draft", "guide", text=say("draft"))
    _post(client, review, "draft", "notes", text=say("draft"))


def _post(client: Any, review: Review, name: str, *args: str, **fields: str) -> None:
    own = {"item_version": review.version, "digest": review.digest}
    client.post(reverse(f"reviews:{name}", args=[review.pk, *args]), own | fields)


def installed() -> Any:
    return registry.added(*TOOLS, factory.LETTER)
