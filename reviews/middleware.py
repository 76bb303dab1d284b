"""Every page in the time zone of the person who looks at it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from agentops.middleware import Answer
from reviews import profile


def in_their_time(get_response: Answer) -> Answer:
    """Activates the zone, and leaves the settings at `request.profile`.

    No query; static files are answered before it is asked.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        found = profile.of(request.user)
        request.profile = found  # type: ignore[attr-defined] # for the templates
        with timezone.override(profile.zone(found)):
            return get_response(request)

    return answer
