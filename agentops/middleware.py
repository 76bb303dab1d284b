"""What holds for every address, whoever serves it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

Answer = Callable[[HttpRequest], HttpResponse]
METHODS = ("GET", "HEAD", "POST")


def known_methods(get_response: Answer) -> Answer:
    """405 for methods that browsers do not send of themselves.

    Pages of Django's own would take some of them for a GET, or for a POST.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        if request.method in METHODS:
            return get_response(request)
        return HttpResponseNotAllowed(METHODS)

    return answer
