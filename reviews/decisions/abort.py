"""Abort: the run ends for good."""

from __future__ import annotations

from reviews.decisions.base import DecisionKind, WordsField
from reviews.decisions.reasons import ABORTING, ReasonForm
from reviews.decisions.registry import decision_kind
from runs.values import VerdictKind


class AbortForm(ReasonForm):
    presets = ABORTING
    text = WordsField(
        required=False,
        label="In your own words",
        help_text="The run ends for good. What it has done stays done.",
    )


@decision_kind
class Abort(DecisionKind):
    kind = "abort"
    verdict = VerdictKind.ABORT
    words = "Abort the run"
    done = "Aborted"
    verb = "Abort"
    tone = "bad"
    order = 90
    is_danger = True
    after_expiry = True
    form_class = AbortForm
