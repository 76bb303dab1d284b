"""A form that came at the wrong time: what was typed is shown, and can be sent again.

Two things keep a form from being taken though nothing is wrong with it: its person is
signed out by now, or has signed in anew, which ends the tokens of all open forms. And a
form that brings a file is not taken, but may be without it.
"""

from __future__ import annotations

import re

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme

from agentops import sessions

SIGNED_OUT, FORBIDDEN, TOO_MUCH = 401, 403, 413
TOKEN = "csrfmiddlewaretoken"  # noqa: S105 - the name of a field
TOKEN_NOW, PERSON_NOW = "X-Token", "X-Person"
"""Headers by which a page that is open learns of the token, and whose it is."""
SECRET = re.compile("password", re.IGNORECASE)
CODE = re.compile(r"[\w.:+-]{0,64}")
"""What a form brings along by itself, and choices: sent again, but not shown."""


def signed_out(request: HttpRequest) -> HttpResponse:
    """401 for who sent a form while signed out: it stays, and so does what was typed."""
    return _page(
        request,
        SIGNED_OUT,
        title="You are signed out",
        happened="What you sent was not taken, because nobody is signed in here any"
        " more. Sign in in a new tab, then come back and send it again.",
        is_signed_out=True,
    )


def with_a_file(request: HttpRequest) -> HttpResponse:
    """413: nothing is taken, and the words can be sent again without the file."""
    happened = "No form here takes a file, and what you sent had one in it."
    if _asks_in_place(request):
        return HttpResponse(happened, status=TOO_MUCH)
    return _page(request, TOO_MUCH, title="No files, please", happened=happened)


def refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's CSRF_FAILURE_VIEW: 403, and a way on for forms that are ours.

    What another site has sent is never offered to be sent again: one click on our
    page would do what the check has just refused.
    """
    if not _is_ours(request):
        return render(request, "403_csrf.html", status=FORBIDDEN)
    if _asks_in_place(request):
        words = "This page was open while you signed in anew. Send it again."
        return with_token(request, HttpResponse(words, status=FORBIDDEN))
    if request.session.get(sessions.AFTER_ANOTHER):
        return _of_another(request)
    return _page(
        request,
        FORBIDDEN,
        title="Send this again",
        happened="You have signed in anew since this page was opened, and forms that"
        " were open then are not taken without another look.",
    )


def _asks_in_place(request: HttpRequest) -> bool:
    """Is it htmx, or a draft that is kept while one types, and not the person's click?"""
    is_fetch = request.headers.get("Sec-Fetch-Mode") in {"cors", "same-origin"}
    return is_fetch or "HX-Request" in request.headers


def with_token(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Tell an open page the token that holds now, and whose it is."""
    response[TOKEN_NOW] = get_token(request)
    response[PERSON_NOW] = str(request.user.pk or "")
    return response


def _is_ours(request: HttpRequest) -> bool:
    """Was it sent from a page of this site? Browsers tell, and no script can lie."""
    if site := request.headers.get("Sec-Fetch-Site"):
        return site == "same-origin"
    return request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"


def _of_another(request: HttpRequest) -> HttpResponse:
    """It may have been typed by whoever was signed in here before."""
    return _page(
        request,
        FORBIDDEN,
        title="Somebody else was signed in",
        happened="This form was open before you signed in, and then it was another"
        " person who was signed in in this browser. It is not sent in your name.",
        is_for_copying=True,
    )


def _page(
    request: HttpRequest,
    status: int,
    *,
    title: str,
    happened: str,
    is_signed_out: bool = False,
    is_for_copying: bool = False,
) -> HttpResponse:
    sent = [(n, v) for n, some in request.POST.lists() for v in some if n != TOKEN]
    is_secret = any(SECRET.search(name) for name, _ in sent)
    context = {
        "status": status,
        "title": title,
        "happened": happened,
        "is_signed_out": is_signed_out,
        "is_for_copying": is_for_copying,
        "sent": [] if is_secret or is_for_copying else sent,
        "typed": [(_label(n), v) for n, v in sent if not is_secret and _is_words(v)],
        "came_from": _came_from(request),
        "sign_in": resolve_url(settings.LOGIN_URL),
    }
    return render(request, "again.html", context, status=status)


def _is_words(value: object) -> bool:
    return not CODE.fullmatch(str(value))


def _label(name: str) -> str:
    """A form's field as people read it."""
    return name.rpartition(".")[2].replace("_", " ").capitalize()


def _came_from(request: HttpRequest) -> str:
    """The page with the form, "/" where that is not known or not ours."""
    told = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(told, {request.get_host()})
    return "/" + told.split("/", 3)[3] if ours and told.count("/") > 2 else "/"
