"""Whether this is the demo, and the sample sign-ins it offers.

The command `demo` sets AGENTOPS_DEMO=1 for the processes it starts; nothing else
does, so a real site never offers a sign-in without a password.
"""

from __future__ import annotations

from django.conf import settings

SIGN_INS = {
    "submitter": "Gives tasks to agents and watches them",
    "operator": "Decides on what is parked",
    "admin": "Sees everything and sets up agents",
}


def is_on() -> bool:
    return bool(settings.AGENTOPS_DEMO)
