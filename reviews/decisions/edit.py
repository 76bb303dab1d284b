"""Edit and approve: the call runs with arguments that a person changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from reviews.decisions import keeping
from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.changes import Change, between
from reviews.decisions.registry import decision_kind
from reviews.decisions.schema_fields import Argument, arguments_of
from reviews.models import Decision, Review
from runs import deciding
from runs.canonical import Json, clean_object
from runs.errors import BadInput
from runs.tools import registry as tools
from runs.tools.base import Effect
from runs.values import Verdict, VerdictKind

PREFIX = "arguments."
SURE = "sure"
IRREVERSIBLE = Effect.IRREVERSIBLE.value
NOT_SURE = (
    "As edited, this cannot be undone; the call that was proposed could. Tick this, and"
    " send it again, if you want it all the same."
)


class EditForm(DecisionForm):
    """A field per argument of the tool, as its JSON Schema says, and the note.

    `cleaned_data` has "arguments" (JSON types kept), "note", and "sure" where an edit
    could turn what can be undone into what cannot: nobody was warned of that when the
    item was opened, so it is asked once it was sent.
    """

    note = WordsField(
        required=False,
        label="Note to the agent",
        help_text="The agent is told of the edit either way.",
    )

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, review: Review, kind: str = ""
    ) -> None:
        super().__init__(data, review=review, kind=kind)
        self.entered: dict[str, Json] = {}
        self.arguments = arguments_of(_schema(review), _proposed(review))
        note = self.fields.pop("note")
        for argument in self.arguments:
            self.fields[PREFIX + argument.name] = _field(argument)
        self.fields["note"] = note
        keeping.add_to(self, review)
        if data is not None and _may_become_irreversible(review):
            self.fields[SURE] = forms.BooleanField(
                required=False, label="Do it, even if it cannot be undone as edited"
            )

    def clean(self) -> dict[str, Any]:
        arguments = self.entered
        for argument in self.arguments:
            self._take(argument, arguments)
        note = self.cleaned_data.get("note", "")
        kept = keeping.taken(self, "note")
        sure = {SURE: True} if self.cleaned_data.get(SURE) else {}
        return {"arguments": arguments, "note": note} | kept | sure

    @property
    def changes(self) -> list[Change]:
        """What was entered against what was proposed, as far as it could be read."""
        if not self.is_bound:
            return []
        self.errors  # noqa: B018 - cleans what was entered
        entered = self.cleaned_data.get("arguments") or self.entered
        return between(_proposed(self.review), entered)

    def _take(self, argument: Argument, into: dict[str, Json]) -> None:
        name = PREFIX + argument.name
        if name not in self.data:
            self._keep(argument, into)
            return
        if name not in self.cleaned_data:
            self._keep(argument, into)
            return
        try:
            argument.put(self.cleaned_data[name], into)
        except ValueError as error:
            self._keep(argument, into)
            self.add_error(name, forms.ValidationError(str(error)))

    def _keep(self, argument: Argument, into: dict[str, Json]) -> None:
        """A field that was not sent leaves its argument as it was."""
        if argument.is_given:
            into[argument.name] = argument.was


def _field(argument: Argument) -> forms.Field:
    """With what it was, for the browser to compare; optional if the tool says so."""
    field = argument.field()
    was = "" if argument.shown is None else str(argument.shown)
    field.widget.attrs["data-was"] = was
    field.is_optional = not argument.is_required  # type: ignore[attr-defined]
    return field


@decision_kind
class Edit(DecisionKind):
    """Takes the form's fields, or the new `arguments` as one object."""

    kind = "edit"
    verdict = VerdictKind.APPROVE
    words = "Edit and approve"
    done = "Edited and approved"
    key = "e"
    order = 20
    runs_call = True
    form_class = EditForm

    def offered(self, review: Review) -> bool:
        if not review.proposal or not super().offered(review):
            return False
        spec = _spec(review)
        return spec is not None and spec.asks is None

    def clean(self, review: Review, payload: Mapping[str, Any]) -> dict[str, Json]:
        arguments = payload.get("arguments")
        if isinstance(arguments, Mapping):
            note = clean_object({"note": str(payload.get("note", ""))})
            sure: dict[str, Json] = {SURE: True} if payload.get(SURE) else {}
            return {"arguments": clean_object(arguments)} | note | sure
        return super().clean(review, payload)

    def to_verdict(self, review: Review, cleaned_data: Mapping[str, Json]) -> Verdict:
        note = str(cleaned_data.get("note", ""))
        if cleaned_data["arguments"] == review.proposal["arguments"]:
            return Verdict(VerdictKind.APPROVE, note=note)
        try:
            call = deciding.edited(review.run_id, cleaned_data["arguments"])
        except BadInput as error:
            raise BadInput(_by_field(error.fields, review)) from None
        is_known = _was_irreversible(review) or SURE in cleaned_data
        if call.effect == IRREVERSIBLE and not is_known:
            raise BadInput({SURE: NOT_SURE})
        return Verdict(VerdictKind.APPROVE, note=note, arguments=call.arguments)

    def apply(self, decision: Decision, verdict: Verdict | None) -> None:
        super().apply(decision, verdict)
        keeping.keep(decision, "note")

    def take_back(self, decision: Decision) -> None:
        keeping.take_back(decision)

    def typed(self, decision: Decision) -> dict[str, Json]:
        payload = dict(decision.payload)
        entered = payload.pop("arguments")
        shown = arguments_of(_schema(decision.review), entered)
        fields = {PREFIX + one.name: _entered(one.shown) for one in shown}
        return payload | fields

    def note(self, cleaned_data: Mapping[str, Json]) -> str:
        return keeping.said(cleaned_data, "note")


def _may_become_irreversible(review: Review) -> bool:
    """Could the proposed call be undone, and does that hang on its arguments?"""
    spec = _spec(review) if review.proposal else None
    depends = spec is not None and spec.effect_of is not None
    return depends and not _was_irreversible(review)


def _was_irreversible(review: Review) -> bool:
    return bool(review.proposal.get("effect") == IRREVERSIBLE)


def _entered(shown: Any) -> Any:
    """An argument that was left out is an empty field, not the proposed one."""
    return "" if shown is None else shown


def _by_field(problems: Mapping[str, str], review: Review) -> dict[str, str]:
    """Problems by argument, as the form names its fields; the rest on top."""
    known = set(_schema(review).get("properties", {})) | set(_proposed(review))
    placed: dict[str, str] = {}
    for name, problem in problems.items():
        argument, _, inside = name.removeprefix("arguments.").partition(".")
        problem = f"{inside}: {problem}" if inside else problem
        field = PREFIX + argument if argument in known else ""
        placed[field] = "; ".join(filter(None, [placed.get(field), problem]))
    return placed


def _spec(review: Review) -> Any:
    try:
        return tools.get(review.proposal["tool"])
    except KeyError:
        return None


def _schema(review: Review) -> dict[str, Json]:
    spec = _spec(review) if review.proposal else None
    return dict(spec.parameters) if spec else {}


def _proposed(review: Review) -> dict[str, Json]:
    return dict(review.proposal.get("arguments", {})) if review.proposal else {}
