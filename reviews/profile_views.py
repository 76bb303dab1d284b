"""A person's own settings, for everybody who is signed in."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from agentops.http import AuthenticatedRequest, signed_in
from reviews import profile
from reviews.answers import UNPROCESSABLE


@require_http_methods(["GET", "POST"])
@signed_in
def page(request: AuthenticatedRequest) -> HttpResponse:
    """Show the settings, or keep those that were sent; 422 for what is no choice."""
    if request.method == "POST":
        return _save(request)
    return _show(request, profile.form_for(profile.of(request.user)))


def _save(request: AuthenticatedRequest) -> HttpResponse:
    form = profile.ProfileForm(request.POST)
    if not form.is_valid():
        return _show(request, form, UNPROCESSABLE)
    profile.save(request.user, form)
    messages.success(request, "Your settings are kept.")
    return redirect("reviews:profile")


def _show(
    request: AuthenticatedRequest, form: profile.ProfileForm, status: int = 200
) -> HttpResponse:
    return render(request, "reviews/profile.html", {"form": form}, status=status)
