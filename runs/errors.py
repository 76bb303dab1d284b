"""What can go wrong, named by what happens next.

    AgentOpsError
    ├─ StepError                    raised by tools and model clients
    │  ├─ Transient(retry_after)    wait and try the same step again
    │  │  └─ NotSent                the same, and nothing can have gone out
    │  ├─ InvalidCall               tell the model, as the result of its call
    │  │  └─ TimedOut               the tool's deadline passed; nothing was changed
    │  ├─ Fatal                     park at once
    │  │  └─ Refused                the model or its filter declined
    │  ├─ ContextTooLong            compress the conversation, then once more
    │  └─ OutcomeUnknown            park; a person says what happened
    ├─ LeaseLost                    stop quietly: somebody else has the run
    ├─ IllegalTransition            a bug; the transaction is rolled back
    ├─ Stale                        the thing decided on has changed: show it again
    ├─ NotPermitted                 this person may not do that
    └─ BadInput                     show what is wrong beside the field

Tool authors raise the `StepError`s; an irreversible tool is tried again only on
`NotSent`. Any other exception of a tool counts as `Fatal`.
"""

from __future__ import annotations

from collections.abc import Mapping


class AgentOpsError(Exception):
    """Something went wrong."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").split("\n")[0])

    @property
    def message(self) -> str:
        return str(self.args[0])


class StepError(AgentOpsError):
    """A step could not be carried out."""

    error_class = "fatal"

    @property
    def known_class(self) -> str:
        """What happens next goes by our own classes, whatever a tool made of them."""
        ours = (kind for kind in type(self).__mro__ if kind.__module__ == __name__)
        return str(getattr(next(ours), "error_class", StepError.error_class))


class Transient(StepError):
    """It may work later.

    `retry_after` is in seconds, as the other side asked for. `maybe_billed` tells
    that the lost try may have to be paid for, so its reservation stays spent.
    """

    error_class = "transient"

    def __init__(
        self,
        message: str = "",
        *,
        retry_after: float | None = None,
        maybe_billed: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.maybe_billed = maybe_billed


class NotSent(Transient):
    """It may work later, and nothing can have gone out."""


class InvalidCall(StepError):
    """The call cannot be carried out as it was made."""

    error_class = "invalid"


class TimedOut(InvalidCall):
    """The tool did not answer within its deadline."""

    error_class = "timeout"


class Fatal(StepError):
    """It will not work without a person."""


class Refused(Fatal):
    """The model declined to answer."""

    error_class = "refused"


class ContextTooLong(StepError):
    """The conversation does not fit the model's window."""

    error_class = "context"


class OutcomeUnknown(StepError):
    """The call may or may not have taken effect."""

    error_class = "outcome_unknown"


class LeaseLost(AgentOpsError):
    """Somebody else holds the run."""


class IllegalTransition(AgentOpsError):
    """A run cannot make this move."""


class Stale(AgentOpsError):
    """This has changed since it was shown."""


class NotPermitted(AgentOpsError):
    """This person may not do that."""


class BadInput(AgentOpsError):
    """The input cannot be taken as it is.

    `fields` maps a field's name to what is wrong with it; "" is the whole form.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__("; ".join(fields.values()))
        self.fields = dict(fields)
