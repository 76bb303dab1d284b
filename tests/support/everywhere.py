"""Every page, fragment and form that the URL resolver knows, and every row there is.

What no test names one by one is walked here: an address that is added is walked too,
and one with a new kind of part fails until it is said what goes in there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db import connection
from django.test import Client
from django.urls import reverse

from reviews.decisions.registry import all_kinds, offered
from reviews.models import Review
from runs.models import Run, Step
from tests.support import addresses

PART = re.compile(r"<(\w+)>")
FORMS = ("notes", "approve", "edit")
HTMX = {"HX-Request": "true"}


def pages(
    client: Client,
    data: Sequence[str] = (),
    wanted: Callable[[str], bool] = lambda address: True,
) -> Iterator[tuple[str, str]]:
    """(address, what is answered) of each page, as a page and as a fragment, and of
    each form that is refused or shown once more. Nothing is changed but drafts.

    `data` are words to search for; what is not `wanted` is not asked for.
    """
    for address in [*_addresses(), *_searches(data)]:
        if wanted(address):
            yield _answered(address, client.get(address))
        if address.startswith(("/runs/", "/reviews/")) and "fork" not in address:
            name = f"{address} (fragment)"
            if wanted(name):
                yield _answered(name, client.get(address, headers=HTMX))
    for address, sent in _posts():
        if wanted(f"POST {address}"):
            yield _answered(f"POST {address}", client.post(address, sent))


def rows() -> Iterator[tuple[str, str]]:
    """(table, row as text) of every table."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            for row in cursor.fetchall():
                yield table, " ".join(map(_text, row))


def _text(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        return bytes(value).decode(errors="replace")
    return str(value)


def _answered(address: str, answer: Any) -> tuple[str, str]:
    assert answer.status_code < 500, address
    if answer.streaming:
        return address, ""
    return address, answer.content.decode()


def _addresses() -> Iterator[str]:
    for pattern in addresses.every():
        if not pattern.startswith(("admin/", *addresses.PROBES)):
            yield from _filled(f"/{pattern}")
    for model in admin.site._registry:
        yield from _of_admin(model)


def _filled(route: str) -> Iterator[str]:
    """The route for each thing it can be about."""
    names = PART.findall(route)
    if names == ["run_id", "number"]:
        for step in Step.objects.all():
            yield _put(route, {"run_id": step.run_id, "number": step.number})
        return
    values = _values()
    first = {name: values[name][0] for name in names if values[name]}
    for value in values[names[-1]] if names else [None]:
        yield _put(route, first | ({names[-1]: value} if names else {}))


def _put(route: str, values: dict[str, Any]) -> str:
    return PART.sub(lambda found: str(values[found[1]]), route)


def _values() -> dict[str, list[Any]]:
    """What may stand in each part; KeyError for a part that is new."""
    return {
        "run_id": list(Run.objects.values_list("pk", flat=True)),
        "review_id": list(Review.objects.values_list("pk", flat=True)),
        "route_id": [1],
        "shape": [row.shape for row in Review.objects.all() if row.shape] or ["x"],
        "kind": [all_kinds()[0].kind],
        "form": list(FORMS),
        "uidb64": ["MQ"],
        "token": ["set-password"],
    }


def _of_admin(model: Any) -> Iterator[str]:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    yield reverse(f"{name}_changelist")
    yield reverse(f"{name}_add")
    for row in model._default_manager.order_by("-pk")[:2]:
        yield reverse(f"{name}_change", args=[row.pk])
        yield reverse(f"{name}_history", args=[row.pk])
        yield reverse(f"{name}_delete", args=[row.pk])


def _searches(data: Sequence[str]) -> Iterator[str]:
    for words in data:
        for name in ("reviews:inbox", "runs:list"):
            yield f"{reverse(name)}?{urlencode({'q': words})}"
    for review in Review.objects.all():
        yield f"{reverse('reviews:inbox')}?item={review.pk}"
    for run in Run.objects.all():
        yield f"{reverse('runs:new')}?agent={run.agent.slug}&again={run.pk}"


def _posts() -> Iterator[tuple[str, dict[str, Any]]]:
    """Forms as they come back: with a look ahead, with what is wrong, in bulk."""
    reviews = list(Review.objects.all())
    yield reverse("reviews:rows"), {"id": [str(r.pk) for r in reviews]}
    picks = [f"{r.pk}:{r.version}:{r.digest}" for r in reviews]
    yield reverse("reviews:together"), {"pick": picks, "kind": "approve"}
    yield reverse("reviews:decide_together"), {"pick": picks, "kind": "reject"}
    for review in reviews:
        own = {"item_version": review.version, "digest": review.digest}
        for kind in offered(review):
            address = reverse("reviews:decide", args=[review.pk, kind.kind])
            yield address, own | {"preview": "1"}
            yield address, {"item_version": 0, "text": "x"}
