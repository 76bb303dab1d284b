"""People of every kind and one thing of every kind, for walks over all addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from axes.models import AccessAttempt
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client

from agentops import clock
from reviews import services
from reviews.models import Profile, Review, Route
from runs import guidance
from runs.models import Agent, Attempt, Driver, Price, Run
from runs.states import ParkReason
from tests.support import factory

ROLES = (
    "nobody",  # not signed in
    "guest",  # signed in, in no group
    "asker",  # a submitter; the run is theirs
    "other",  # another submitter
    "decider",  # an operator who decides on the agent's runs
    "stranger",  # an operator of another group
    "self",  # an operator who decides on the agent's runs, and the run is theirs
    "admin",
    "off",  # a decider who was signed in when an admin switched the account off
)

WORDS = "A secret plan."
"""Of the task; who may not see the run must not read them."""


@dataclass(frozen=True)
class Scene:
    """`own` is the run of who is operator and requester in one, `run` the asker's."""

    people: dict[str, User]
    review: Review
    own: Review
    route: Route
    agent: Agent

    def client(self, role: str, **options: Any) -> Client:
        """Signed in as one of them; nothing that goes wrong there is raised here."""
        client = Client(raise_request_exception=False, **options)
        if person := self.people.get(role):
            client.force_login(person)
        if role == "off":
            User.objects.filter(pk=self.people["off"].pk).update(is_active=False)
        return client

    def review_for(self, role: str) -> Review:
        return self.own if role == "self" else self.review

    def named(self, role: str) -> dict[str, Any]:
        """What stands in addresses, by the name it has in their patterns."""
        review = self.review_for(role)
        return {
            "run_id": review.run_id,
            "number": 1,
            "review_id": review.pk,
            "route_id": self.route.pk,
            "shape": review.shape,
            "form": "approve",
            "kind": "reject",
            "uidb64": "MQ",
            "token": "set-password",
            "app_label": "runs",
            "url": "nowhere",
            "content_type_id": 1,
            "id": self.people["other"].pk,
        }

    def path(self, pattern: str, role: str) -> str:
        """The pattern, filled in for somebody."""
        found = "/" + pattern
        for name, value in self.named(role).items():
            found = found.replace(f"<{name}>", str(value))
        return found.replace("<object_id>", str(_row_of(pattern)))

    def sent(self, pattern: str, role: str) -> dict[str, Any]:
        """What a form there sends, such that it is done for who may do it."""
        if pattern.endswith("/delete/"):
            return {"post": "yes"}
        if "/".join(pattern.split("/")[1:]).rstrip("/") in models():
            ours = {"_selected_action": _row_of(pattern), "post": "yes"}
            return ours | {"action": "delete_selected"}
        if pattern == "runs/new/":
            return {"agent": self.agent.slug, "task": "Post it."} | LIMITS
        return _FORMS.get(pattern, {}) | self._sealed(pattern, role)

    def _sealed(self, pattern: str, role: str) -> dict[str, Any]:
        if not pattern.startswith("reviews/"):
            return {}
        review = self.review_for(role)
        seal = {"item_version": review.version, "digest": review.digest}
        if "<review_id>" in pattern:
            return seal
        return {"pick": f"{review.pk}:{review.version}:{review.digest}"}


def make() -> Scene:
    desk = Group.objects.create(name="desk")
    people = _people(desk)
    agent = factory.make_agent(submitter_answers=True)
    agent.deciders.add(desk)
    run = factory.make_run(agent, by=people["asker"], task=WORDS)
    review = factory.park(run, ParkReason.LOW_CONFIDENCE)
    own = factory.park(factory.make_run(agent, by=people["self"], task=WORDS))
    route = Route.objects.create(
        person=people["decider"], channel="email", address="ana@example.org"
    )
    _one_of_each(people["admin"], agent)
    return Scene(people, review, own, route, agent)


def _people(desk: Group) -> dict[str, User]:
    groups = {
        "guest": [],
        "asker": ["submitters"],
        "other": ["submitters"],
        "decider": ["operators"],
        "stranger": ["operators"],
        "self": ["operators"],
        "admin": ["admins"],
        "off": ["operators"],
    }
    people = {name: factory.make_user(name, *of) for name, of in groups.items()}
    for name in ("decider", "self", "off"):
        people[name].groups.add(desk)
    people["admin"].is_staff = True
    people["admin"].save()
    return people


def _one_of_each(person: User, agent: Agent) -> None:
    """A row of every model of the admin pages that the scene would not have."""
    now, later = clock.now(), clock.later(3600)
    run = factory.make_run()
    call = factory.make_call(run)
    factory.start_effect(run, call, "nobody")
    done = factory.park(run, call=call)
    services.decide(
        done.pk, by=person, kind="approve", item_version=1, digest=done.digest
    )
    guidance.keep("Mind the rounding.", by=person, at=now, agent=agent)
    Price.objects.create(model="local", input=0, output=0)
    Profile.objects.create(person=person)
    times = {"started_at": now, "finished_at": now, "retry_at": now}
    why = {"error_class": "transient", "error_text": "no answer"}
    Attempt.objects.create(run=run, step_number=1, number=1, **times, **why)
    Driver.objects.create(
        owner="one", host="here", slot=1, pid=1, started_at=now, beat_at=later
    )
    # However long a walk takes, the workers keep up.
    Run.objects.exclude(wake_at=None).update(wake_at=later)
    AccessAttempt.objects.create(username="eve", failures_since_start=3)


def models() -> dict[str, Any]:
    """The models of the admin pages, by how their addresses name them."""
    found = (model._meta for model in admin.site._registry)
    return {f"{meta.app_label}/{meta.model_name}": meta.model for meta in found}


def _row_of(pattern: str) -> Any:
    """The key of a row of the model whose admin pages these are."""
    parts = pattern.split("/")
    model = models().get("/".join(parts[1:3]))
    if model is None:
        return 1
    if model is Group:
        return Group.objects.get(name="desk").pk
    if model is User:
        return User.objects.get(username="guest").pk
    return model._default_manager.order_by("pk").values_list("pk", flat=True)[0]


LIMITS = {
    "limits.steps": "5",
    "limits.seconds": "60",
    "limits.money": "0.10",
    "limits.tokens": "1000",
}

_FORMS: dict[str, dict[str, Any]] = {
    "preferences/": {"theme": "dark"},
    "demo/sign-in/": {"name": "admin"},
    "runs/<run_id>/cancel/": {"own": "Not needed."},
    "reviews/profile/": {"time_zone": "Europe/Berlin"},
    "reviews/profile/routes/": {
        "channel": "email",
        "address": "new@example.org",
        "least_risk": "low",
    },
    "reviews/profile/routes/<route_id>/": {"act": "remove"},
    "reviews/profile/quiet/": {"quiet_from": "22:00", "quiet_until": "06:00"},
    "reviews/profile/mute/": {"for": "hour"},
    "reviews/together/decide/": {"kind": "reject", "text": "No.", "batch": "b"},
    "reviews/<review_id>/notes/": {"text": "Look at row 3."},
    "reviews/<review_id>/answer/": {"text": "The third."},
    "reviews/<review_id>/hold/": {"act": "claim"},
    "reviews/<review_id>/draft/<form>/": {"text": "Half a sen"},
    "reviews/<review_id>/decide/<kind>/": {"text": "Because."},
    "accounts/login/": {"username": "other", "password": "pass-of-a-test"},
    "accounts/password_reset/": {"email": "other@example.com"},
    "accounts/password_change/": {
        "old_password": "pass-of-a-test",
        "new_password1": "quite another one",
        "new_password2": "quite another one",
    },
    "admin/password_change/": {
        "old_password": "pass-of-a-test",
        "new_password1": "quite another one",
        "new_password2": "quite another one",
    },
    "admin/auth/user/<id>/password/": {
        "password1": "quite another one",
        "password2": "quite another one",
    },
}
"""What is typed into forms, beside the seal of the item that they are about."""
