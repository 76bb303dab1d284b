"""The section of the profile page about notices: what its forms do."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from agentops.http import AuthenticatedRequest, signed_in
from reviews import profile, routes
from reviews.answers import UNPROCESSABLE
from reviews.models import Route
from reviews.notifiers.base import Undeliverable

PAGE = "reviews:profile"


@require_POST
@signed_in
def add(request: AuthenticatedRequest) -> HttpResponse:
    """Keep a new route; 422 with what is wrong, and what was entered."""
    form = routes.RouteForm(request.POST)
    if not form.is_valid() or not routes.add(request.user, form):
        return _again(request, {"route_form": form})
    messages.success(request, "The route is kept. Send a test message through it.")
    return redirect(PAGE)


@require_POST
@signed_in
def change(request: AuthenticatedRequest, route_id: int) -> HttpResponse:
    """`act` is on, off, remove or test; 404 for a route of somebody else."""
    route = get_object_or_404(Route, pk=route_id, person=request.user)
    match request.POST.get("act"):
        case "on" | "off" as act:
            routes.switch(request.user, route.pk, on=act == "on")
            messages.success(request, f"The route is {act}.")
        case "remove":
            routes.remove(request.user, route.pk)
            messages.success(request, "The route is removed.")
        case "test":
            _test(request, route)
        case _:
            messages.error(request, "Nothing was changed: choose what to do.")
    return redirect(PAGE)


@require_POST
@signed_in
def quiet(request: AuthenticatedRequest) -> HttpResponse:
    form = routes.QuietForm(request.POST)
    if not form.is_valid():
        return _again(request, {"quiet_form": form})
    routes.keep_quiet(request.user, form)
    messages.success(request, "Your quiet hours are kept.")
    return redirect(PAGE)


@require_POST
@signed_in
def mute(request: AuthenticatedRequest) -> HttpResponse:
    until = routes.mute(request.user, request.POST.get("for", ""))
    if until is None:
        messages.success(request, "You are told again.")
    else:
        at = timezone.localtime(until)
        messages.success(request, f"You are told nothing until {at:%-d %b, %H:%M}.")
    return redirect(PAGE)


def _test(request: AuthenticatedRequest, route: Route) -> None:
    try:
        routes.send_test(route)
    except Undeliverable as error:
        messages.error(request, f"The test message was not delivered. {error.message}")
    else:
        messages.success(request, "The test message was delivered.")


def _again(request: AuthenticatedRequest, forms: dict[str, object]) -> HttpResponse:
    """The page once more, with the form that cannot be kept."""
    mine = profile.form_for(profile.of(request.user))
    context = {"form": mine, **forms}
    return render(request, "reviews/profile.html", context, status=UNPROCESSABLE)
