"""What holds for every address, whoever serves it."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

Answer = Callable[[HttpRequest], HttpResponse]
METHODS = ("GET", "HEAD", "POST")
NOT_ASKED_FOR = (
    "accelerometer",
    "autoplay",
    "camera",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "picture-in-picture",
    "publickey-credentials-get",
    "screen-wake-lock",
    "usb",
    "xr-spatial-tracking",
)
"""What a browser can do and no page of ours asks it for."""
POLICIES = {
    "Permissions-Policy": ", ".join(f"{name}=()" for name in NOT_ASKED_FOR),
    "Cross-Origin-Resource-Policy": "same-origin",
}


def policies(get_response: Answer) -> Answer:
    """Headers that Django and django-csp do not set, on whatever is answered."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for name, value in POLICIES.items():
            response.headers.setdefault(name, value)
        return response

    return answer


def kept_nowhere(get_response: Answer) -> Answer:
    """Pages are kept by no cache: after signing out the back button shows none.

    Static files, which are answered before, say themselves how long they are kept.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers["Cache-Control"] = "private, no-store"
        return response

    return answer


def known_methods(get_response: Answer) -> Answer:
    """405 for methods that browsers do not send of themselves.

    Pages of Django's own would take some of them for a GET, or for a POST.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        if request.method in METHODS:
            return get_response(request)
        return HttpResponseNotAllowed(METHODS)

    return answer


def possible_paths(get_response: Answer) -> Answer:
    """400 for an address with NUL in it: PostgreSQL takes no such text."""

    def answer(request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path_info:
            raise BadRequest("an address with NUL")
        return get_response(request)

    return answer
