"""What would have let a run go on by itself: for every reason, with its figures.

Pure: the figures a review has kept, against the agent's version that its run froze.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from agentops.conf import product
from reviews.models import Review
from runs import words
from runs.states import ParkReason
from runs.tools.base import titled
from runs.values import AgentConfig, Policy


@dataclass(frozen=True)
class Case:
    """What a reason is told from. `tool` is the call's, "" where there is none."""

    reason: ParkReason
    figures: Mapping[str, Any]
    config: AgentConfig
    tool: str
    error: Mapping[str, Any]

    @classmethod
    def of(cls, review: Review) -> Case:
        """Needs the review's run and its version; asks nothing else."""
        detail: dict[str, Any] = review.detail or {}
        return cls(
            reason=ParkReason(review.reason),
            figures=detail.get("figures") or {},
            config=AgentConfig.of(review.run.version.config),
            tool=review.tool or str((review.proposal or {}).get("tool", "")),
            error=detail.get("error") or {},
        )

    @property
    def title(self) -> str:
        return titled(self.tool) if self.tool else "The answer"

    @property
    def stated(self) -> Decimal | None:
        return share(self.figures.get("confidence"))

    @property
    def needed(self) -> Decimal:
        """The threshold that was held against it, else the one its agent names."""
        known = share(self.figures.get("threshold"))
        if known is not None:
            return known
        granted = self._granted
        return self.config.threshold if granted is None else granted

    @property
    def _granted(self) -> Decimal | None:
        grant = self.config.grants.get(self.tool)
        return None if grant is None else grant.threshold

    @property
    def needed_by(self) -> str:
        """Whose threshold it is."""
        if self._granted is not None and self._granted == self.needed:
            return f"the grant of {self.tool}"
        if self._granted is None and self.config.threshold == self.needed:
            return "the agent"
        return f"an admin's threshold of {self.tool or 'answers'}"

    @property
    def rules(self) -> list[str]:
        return [str(rule) for rule in self.figures.get("rules") or []]

    @property
    def is_low(self) -> bool:
        return self.stated is not None and self.stated < self.needed

    @property
    def is_always(self) -> bool:
        """Does the agent's grant itself say that a person is asked each time?"""
        grant = self.config.grants.get(self.tool)
        return grant is not None and grant.policy is Policy.ALWAYS


def share(value: Any) -> Decimal | None:
    """A stored share of one; None for anything else."""
    try:
        return Decimal(str(value)) if value is not None else None
    except InvalidOperation:
        return None


def did_pass(case: Case, looked_at_below: Decimal) -> str:
    """For what went ahead and is judged afterwards."""
    sure = "" if case.stated is None else f"{words.percent(case.stated)} sure, "
    return (
        f"{sure}{words.percent(case.needed)} needed by {case.needed_by}, no rule applied."
        f" What is below {words.percent(looked_at_below)} is looked at afterwards."
    )


def would_have_passed(case: Case) -> str:
    """One or two sentences, never empty."""
    return _PASSES[case.reason](case)


def _by_the_check(case: Case) -> str:
    needed = words.percent(case.needed)
    if case.rules:
        which = "that rule applies" if len(case.rules) == 1 else "those rules apply"
        alone = f"No confidence, while {which}."
        return f"{alone} Else {needed} would have." if case.is_low else alone
    if case.stated is None:
        return f"A check that answers as asked, at {needed} or more."
    return f"At {needed} it would have gone by itself."


def _by_an_answer(case: Case) -> str:
    needed = words.percent(case.needed)
    return f"A check that answers as asked, at {needed} or more, and no rule applying."


def _always(case: Case) -> str:
    who = "the agent's grant" if case.is_always else "an admin's setting of the tool"
    return f"Nothing: by {who}, {case.title} asks a person each time."


def _untrusted(case: Case) -> str:
    needed = words.percent(case.needed)
    return (
        "The same call before anything untrusted was read: then a check at"
        f" {needed} or more would have done. No confidence makes up for it now."
    )


def _repeated(case: Case) -> str:
    return (
        "Other arguments, or the first call with these: that one is checked,"
        " each further one asks a person."
    )


def _changed(case: Case) -> str:
    return "The call, the tool and its policy as they were when it was approved."


def _question(case: Case) -> str:
    return "Nothing: the agent asked a person, and it waits for the answer."


def _escalation(case: Case) -> str:
    return "Nothing: the agent handed over to a person, and it waits for them."


def _budget(case: Case) -> str:
    if case.figures.get("model"):
        return f"A price for {case.figures['model']}, or a run without a money budget."
    least = least_limit(case.figures)
    return f"A limit of {least} or more." if least else "A higher limit."


def _invalid(case: Case) -> str:
    allowed = int(case.figures.get("allowed") or product().max_invalid_in_a_row)
    return (
        f"One reply that can be carried out, among {allowed} in a row; each of those"
        " was told what was wrong with it."
    )


def _no_progress(case: Case) -> str:
    if case.figures.get("repeats"):
        allowed = int(case.figures.get("allowed") or product().max_repeats)
        return f"A new result, or another call: {allowed} equal ones are let through."
    return "A reply with words or a call in it. It was asked for again, in vain."


def _open_plan(case: Case) -> str:
    left = [str(number) for number in case.figures.get("open_items") or []]
    if not left:
        return "A plan of which every item is done, or dropped with a reason."
    named = f"item {left[0]}" if len(left) == 1 else f"items {', '.join(left)}"
    return f"A plan with {named} done, or dropped with a reason."


def _retries(case: Case) -> str:
    tries = case.figures.get("attempts")
    among = f" among the {tries} tries" if tries else ""
    return f"One success{among}. They are used up; a person may allow more."


def _fatal(case: Case) -> str:
    return (
        "The same step without this error. It is of the kind that stays however"
        " often one tries, so it was not tried again."
    )


def _refused(case: Case) -> str:
    return "A model that takes the task on. A refusal is not asked about twice."


def _context(case: Case) -> str:
    most = int(case.config.context_window * product().context_share)
    return (
        f"A conversation of {words.count(most)} tokens or less, after old results"
        " were shortened; or a model with a larger window."
    )


def _unknown(case: Case) -> str:
    return (
        "A recorded result, or a tool that can find out by itself. It is never done"
        " a second time on a guess."
    )


def _restored(case: Case) -> str:
    return (
        "Nothing: the run began before a backup that was restored, and what happened"
        " since is in no row."
    )


def _poison(case: Case) -> str:
    return "One step that is recorded while the run goes on alone."


_PASSES: dict[ParkReason, Callable[[Case], str]] = {
    ParkReason.LOW_CONFIDENCE: _by_the_check,
    ParkReason.REVIEW_RULE: _by_the_check,
    ParkReason.ANSWER: _by_the_check,
    ParkReason.CHECK_FAILED: _by_an_answer,
    ParkReason.ALWAYS_ASK: _always,
    ParkReason.UNTRUSTED_CONTENT: _untrusted,
    ParkReason.REPEATED_CALL: _repeated,
    ParkReason.RESTORED: _restored,
    ParkReason.CHANGED: _changed,
    ParkReason.QUESTION: _question,
    ParkReason.ESCALATION: _escalation,
    ParkReason.BUDGET: _budget,
    ParkReason.INVALID_CALLS: _invalid,
    ParkReason.NO_PROGRESS: _no_progress,
    ParkReason.OPEN_PLAN: _open_plan,
    ParkReason.RETRIES: _retries,
    ParkReason.FATAL: _fatal,
    ParkReason.REFUSED: _refused,
    ParkReason.CONTEXT: _context,
    ParkReason.OUTCOME_UNKNOWN: _unknown,
    ParkReason.POISON: _poison,
}


def amount(text: Any) -> Decimal | None:
    """A budget's figure as a number: "$0.4900", "12.5 s", "200,000"; else None."""
    bare = str(text).removeprefix("$").removesuffix(" s").replace(",", "")
    try:
        number = Decimal(bare)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def least_limit(figures: Mapping[str, Any]) -> str:
    """The smallest limit the next call would fit, as the figures are written."""
    used, needed = amount(figures.get("used")), amount(figures.get("needed"))
    if used is None or needed is None:
        return ""
    text = str(figures["used"])
    before = "$" if text.startswith("$") else ""
    after = " s" if text.endswith(" s") else ""
    return f"{before}{used + needed:,}{after}"
