"""Pages need something to show: runs of the sample agents, made by the real product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group, User

from reviews import services as reviews
from reviews.models import Review
from reviews.samples import install
from runs import services
from runs.models import Agent, Run
from runs.states import RunState
from tests.support.project import LiveProject
from tests.support.wait import wait_until

PASSWORD = "let me in, please"
NOTE = (
    "Confirmed: the September spike is accurate due to enterprise deal close."
    " Proceed with sending."
)
ROLES = {"submitter": "submitters", "operator": "operators", "admin": "admins"}
LONG_S = 60.0


@dataclass(frozen=True)
class Story:
    """What there is to look at, by what it shows."""

    done: Run
    parked: Review
    question: Review
    budget: Review
    retried: Run
    decided: Review


def set_the_scene(project: LiveProject) -> None:
    """The sample agents and the three people of the demo."""
    install(project.folder / "var")
    for name, group in ROLES.items():
        person = User.objects.create_user(
            name, f"{name}@example.com", PASSWORD, is_staff=name == "admin"
        )
        person.groups.add(Group.objects.get(name=group))


def tell(project: LiveProject) -> Story:
    """Needs a running worker and the scene. Returns when every run rests."""
    first = _rests(_start("quarterly-metrics"), RunState.AWAITING_HUMAN)
    decided = _review_of(first)
    reviews.decide(
        decided.pk,
        by=User.objects.get(username="operator"),
        kind="approve",
        item_version=decided.version,
        digest=decided.digest,
        payload={"note": NOTE},
    )
    retried = _start("flaky-status")
    parked = _start("quarterly-metrics")
    question = _start("vendor-question")
    budget = _start("quarterly-metrics", limits={"steps": 3})
    done = _rests(first, RunState.COMPLETED)
    decided.refresh_from_db()
    return Story(
        done=done,
        decided=decided,
        parked=_review_of(_rests(parked, RunState.AWAITING_HUMAN)),
        question=_review_of(_rests(question, RunState.AWAITING_HUMAN)),
        budget=_review_of(_rests(budget, RunState.AWAITING_HUMAN)),
        retried=_rests(retried, RunState.COMPLETED),
    )


def park(slug: str = "quarterly-metrics") -> Review:
    """A run of that sample agent, waiting. Needs a running worker and the scene."""
    return _review_of(_rests(_start(slug), RunState.AWAITING_HUMAN))


def _start(slug: str, limits: dict[str, Any] | None = None) -> UUID:
    agent = Agent.objects.get(slug=slug)
    defaults = {
        name: shape["default"]
        for name, shape in agent.input_schema["properties"].items()
    }
    by = User.objects.get(username="submitter")
    return services.start(agent=agent, by=by, inputs=defaults, limits=limits).id


def _rests(run_id: Any, state: RunState) -> Run:
    run_id = getattr(run_id, "id", run_id)
    wait_until(
        lambda: Run.objects.get(id=run_id).state == state,
        timeout_s=LONG_S,
        what=f"a run of the story being {state.label}",
    )
    return Run.objects.get(id=run_id)


def _review_of(run: Run) -> Review:
    return Review.objects.get(run=run)
