"""A page for what went wrong: what happened, what was kept, what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def problem(
    request: HttpRequest,
    status: int,
    *,
    title: str,
    happened: str,
    kept: str = "",
    next_steps: Sequence[tuple[str, str]] = (),
) -> HttpResponse:
    """Answer with `status`; `next_steps` are (words on the button, address)."""
    context = {
        "status": status,
        "title": title,
        "happened": happened,
        "kept": kept,
        "next": next_steps or [("Go home", "/")],
    }
    return render(request, "problem.html", context, status=status)
