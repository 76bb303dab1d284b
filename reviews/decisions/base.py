"""What a kind of decision is: its words, its form, and what it means to the run.

    @decision_kind
    class Retry(DecisionKind):
        kind = "retry"
        verdict = VerdictKind.RETRY
        words = "Retry the step"
        done = "Retried"

A kind is offered where the parked run takes its verdict. Its form is plain Django,
rendered by one template for all kinds; what the form cleans becomes a `Verdict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

from reviews.models import Decision, Draft, Review
from reviews.models.decision import after_windows
from reviews.models.review import ReviewKind
from runs import deciding
from runs.canonical import Json, clean_object, clean_text, dumps
from runs.errors import BadInput
from runs.values import Verdict, VerdictKind

MAX_TEXT = 10_000


class DecisionForm(forms.Form):
    """A form about one review; its fields' ids begin with the kind's name.

    `draft` is what the person had typed before, where it was restored into it.
    """

    draft: Draft | None = None

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        review: Review,
        kind: str = "",
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=initial, auto_id=f"id_{kind or 'decision'}_%s")
        self.review = review


class WordsField(forms.CharField):
    """A text over several lines, stored as both databases can hold it."""

    def __init__(self, *, required: bool, label: str, help_text: str = "") -> None:
        super().__init__(
            required=required,
            label=label,
            help_text=help_text,
            max_length=MAX_TEXT,
            widget=forms.Textarea(attrs={"rows": 3}),
        )

    def to_python(self, value: Any) -> str:
        return clean_text(str(super().to_python(value) or "")).replace("\r\n", "\n")


class DecisionKind:
    """One kind; there is one object of it per process.

    `verdict` is what it comes to for the run, None if nothing. `words` are those of its
    button, `short` those where room is scarce and their first alone would mislead,
    `done` those of what was decided. `tone` is what it says of what was asked
    for: good, wait (neither), bad. `verb` names it where many items are decided on
    together, "" if each needs a decision of its own. `key` is its letter on the
    keyboard, "" for none. `is_danger` sets its button apart, `is_rare` puts it into a menu where
    the bar gets crowded. `runs_call` tells that it lets a call be made that was
    not made before, `repeats_call` that one which was tried may be made again: with both
    the digest of what was seen must be given. `after_expiry`: it also ends what
    nobody answered in time.
    """

    kind: ClassVar[str]
    verdict: ClassVar[VerdictKind | None]
    words: ClassVar[str]
    short: ClassVar[str] = ""
    done: ClassVar[str]
    tone: ClassVar[str] = "good"
    verb: ClassVar[str] = ""
    key: ClassVar[str] = ""
    order: ClassVar[int] = 50
    is_danger: ClassVar[bool] = False
    is_rare: ClassVar[bool] = False
    runs_call: ClassVar[bool] = False
    repeats_call: ClassVar[bool] = False
    after_expiry: ClassVar[bool] = False
    form_class: ClassVar[type[DecisionForm]] = DecisionForm

    @property
    def makes_call(self) -> bool:
        """May a call be made because of it? Then it has to be seen whole."""
        return self.runs_call or self.repeats_call

    def label(self, review: Review) -> str:
        """The words on its button."""
        return self.words

    def offered(self, review: Review) -> bool:
        """May this be decided here? Reads the run's park, changes nothing."""
        park = review.run.park
        if park is None or review.kind != ReviewKind.WAITING.value:
            return False
        return self.verdict in deciding.allowed_verdicts(park)

    def form(
        self, review: Review, data: Mapping[str, Any] | None = None
    ) -> DecisionForm:
        """The form, filled with what was sent, or as it is first shown."""
        return self.form_class(data, review=review, kind=self.kind)

    def clean(self, review: Review, payload: Mapping[str, Any]) -> dict[str, Json]:
        """What was entered, as JSON; raises `BadInput` by field. Pure."""
        form = self.form(review, payload)
        if form.is_valid():
            return clean_object(form.cleaned_data)
        raise BadInput({_name(n): str(e[0]) for n, e in form.errors.items()})

    def is_again(
        self, review: Review, payload: Mapping[str, Any], decided: Mapping[str, Json]
    ) -> bool:
        """Does this say once more what was decided?"""
        try:
            return dumps(self.clean(review, payload)) == dumps(dict(decided))
        except BadInput:
            return False

    def to_verdict(
        self, review: Review, cleaned_data: Mapping[str, Json]
    ) -> Verdict | None:
        """What the run is told; raises `BadInput` for what does not fit the run."""
        if self.verdict is None:
            return None
        return Verdict(self.verdict, text=str(cleaned_data.get("text", "")))

    def apply(self, decision: Decision, verdict: Verdict | None) -> None:
        """What the decision does, in its transaction; by default the run goes on."""
        if verdict is None:
            return
        deciding.resume(
            decision.review.run_id,
            verdict,
            by=decision.actor,
            sequence=decision.review.sequence,
            wake_at=after_windows(decision.review.run_id, decision.effective_at),
        )

    def take_back(self, decision: Decision) -> None:
        """What else goes when it is undone in its window; the run is put back anyway."""

    def typed(self, decision: Decision) -> dict[str, Json]:
        """The form's fields as they were sent, by name, from what was decided."""
        return dict(decision.payload)

    def note(self, cleaned_data: Mapping[str, Json]) -> str:
        """The words of the person, for lists of decisions."""
        return str(cleaned_data.get("note") or cleaned_data.get("text") or "")


def _name(field: str) -> str:
    return "" if field == NON_FIELD_ERRORS else field
