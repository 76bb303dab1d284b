"""Pages that belong to no app: home, preferences, signing in, the demo's mail."""

from __future__ import annotations

import logging
import sys
from typing import Any

from django.contrib.auth import get_user_model, login
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.views import (
    LoginView,
    PasswordResetView,
    redirect_to_login,
)
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.template import loader
from django.templatetags.static import static
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST, require_safe
from django.views.defaults import server_error

from agentops import demo, mail, outage, throttle
from agentops.http import AuthenticatedRequest, polled, signed_in
from runs import queue

A_YEAR_S = 365 * 86_400
MOST_CHARS = 4000
MAIL_A_LINK = "agentops.tasks.mail_a_link"
RETRY_S = 5
PREFERENCES = {"theme": ("system", "light", "dark")}

logger = logging.getLogger(__name__)


@require_GET
@signed_in
def home(request: AuthenticatedRequest) -> HttpResponse:
    """To the inbox for whoever decides, to the runs for everybody else."""
    if request.user.has_perm("reviews.decide_review"):
        return redirect("reviews:inbox")
    return redirect("runs:list")


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """For pages that name no icon of their own: the admin's, and plain JSON."""
    return redirect(static("img/favicon.svg"))


@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    """Keep the theme in a cookie, so that pages come out right, signed in or not."""
    response = HttpResponseRedirect(_safe(request, request.POST.get("next", "")))
    for name, values in PREFERENCES.items():
        if request.POST.get(name) in values:
            response.set_cookie(
                name,
                request.POST[name],
                max_age=A_YEAR_S,
                samesite="Lax",
                httponly=True,
                secure=request.is_secure(),
            )
    return response


@require_GET
@signed_in
@polled
def pulse(request: AuthenticatedRequest) -> HttpResponse:
    """What every page polls: the banner, and the count in the top bar."""
    return render(request, "_pulse_fragment.html", {"oob": True})


class SignIn(LoginView):
    """Django's, with the demo's sample sign-ins where the demo runs."""

    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        samples = demo.SIGN_INS if demo.is_on() else {}
        return super().get_context_data(samples=samples, **kwargs)


def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """There is one door: who is not signed in goes there, and comes back."""
    if request.user.is_authenticated and not request.user.is_staff:
        raise PermissionDenied("The admin pages are for people with staff status.")
    return redirect_to_login(_safe(request, request.GET.get("next", "/admin/")))


class ResetPassword(PasswordResetView):
    """Django's; the answer is the same, and as quick, whether there is such a person."""

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        address = form.cleaned_data["email"].casefold()
        if refused := throttle.refuse(self.request, f"a link for {address}"):
            return refused
        queue.enqueue(MAIL_A_LINK, address)
        return redirect(self.get_success_url())


@require_POST
def demo_sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in as one of the demo's people; 404 wherever this is not the demo."""
    name = request.POST.get("name", "")
    if not demo.is_on() or name not in demo.SIGN_INS:
        raise Http404
    user = get_object_or_404(get_user_model(), username=name, is_active=True)
    login(request, user)
    return HttpResponseRedirect(_safe(request, request.POST.get("next", "")))


@require_GET
@signed_in
def demo_mail(request: AuthenticatedRequest) -> HttpResponse:
    """The mail the demo has sent, newest first; 404 wherever this is not the demo."""
    if not demo.is_on():
        raise Http404
    sent = sorted(mail.stored_mails(), key=lambda one: one.sent_at, reverse=True)
    return render(request, "demo/mail.html", {"sent": sent})


def _safe(request: HttpRequest, address: str) -> str:
    """The address, if it is a page of ours and not too long to be one; else home."""
    is_ours = url_has_allowed_host_and_scheme(
        address, {request.get_host()}, require_https=request.is_secure()
    )
    return (
        address if is_ours and address[:1] == "/" and len(address) < MOST_CHARS else "/"
    )


def broken(request: HttpRequest) -> HttpResponse:
    """The page for what a view raised: 503 and a line if it is the database, else 500.

    Reads no rows. What a database that is away causes is no mistake of a page, and a
    traceback of each would bury those that are.
    """
    error = sys.exc_info()[1]
    if error is None or not outage.is_outage(error):
        return server_error(request)
    words = outage.first_line(error)
    logger.error("%s: the database cannot be used: %s", request.path, words)
    page = loader.get_template("503.html").render()
    response = HttpResponse(page, status=503, headers={"Retry-After": str(RETRY_S)})
    response._has_been_logged = True  # type: ignore[attr-defined] # as Django marks it
    return response
