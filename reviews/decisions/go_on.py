"""Go on: nobody answered in time; the call is not made, and the agent is told so."""

from __future__ import annotations

from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from reviews.models import Review
from reviews.models.review import ReviewStatus
from runs.values import VerdictKind


class GoOnForm(DecisionForm):
    text = WordsField(
        required=False,
        label="Word to the agent",
        help_text="The agent is told that nobody answered in time, and that its call"
        " was not made.",
    )


@decision_kind
class GoOn(DecisionKind):
    kind = "go_on"
    verdict = VerdictKind.GO_ON
    words = "Go on without an answer"
    done = "Went on without an answer"
    tone = "wait"
    order = 5
    after_expiry = True
    form_class = GoOnForm

    def offered(self, review: Review) -> bool:
        return review.status == ReviewStatus.EXPIRED.value and super().offered(review)
