"""Answers for probes: no sign-in, no session, no check of the host, plain JSON."""

from __future__ import annotations

from collections.abc import Callable

from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs import health, lineage

# A run that has been due for so long shows that the workers do not keep up.
READY_LAG_S = 60.0


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """200 if this process and its database answer, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return _answer({"database": "does not answer"}, is_well=False)
    return _answer({"database": "answers"}, is_well=True)


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """200 if runs will be worked on: a worker beats, keeps up, and all is migrated.

    And if no backup was restored of which nobody has told us.
    """
    try:
        missing = health.unapplied_migrations()
        if missing:
            return _ready(False, migrations="missing", missing=missing)
        beats, lag_s = health.worker_beats(), health.queue_lag_s()
        is_whole = not lineage.is_overtaken()
        return _ready(
            beats and lag_s < READY_LAG_S and is_whole,
            history="whole" if is_whole else "went back: run manage.py restored",
            migrations="applied",
            worker="beats" if beats else "none",
            queue_lag_s=round(lag_s, 1),
            runs_held=health.runs_held(),
        )
    except Error:
        return _ready(False, database="does not answer")


def _ready(is_ready: bool, **figures: object) -> JsonResponse:
    return _answer({"ready": is_ready, **figures}, is_well=is_ready)


def _answer(figures: dict[str, object], *, is_well: bool) -> JsonResponse:
    """Not logged as an error: a probe asks every few seconds, and is told."""
    response = JsonResponse(figures, status=200 if is_well else 503)
    response._has_been_logged = True  # type: ignore[attr-defined] # as Django marks it
    return response


PROBES = {"/healthz": healthz, "/readyz": readyz}


def answer_probes(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that answers probes itself and hands on everything else.

    A load balancer asks by address and without TLS; what `ALLOWED_HOSTS` and the
    redirect to HTTPS say is meant for browsers.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        probe = PROBES.get(request.path_info)
        return probe(request) if probe else get_response(request)

    return answer
