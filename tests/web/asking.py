"""One request of one person, after which all is as it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from tests.web import writes

SIGN_IN = "/accounts/login/"


@dataclass(frozen=True)
class Answer:
    """The answer, and the tables that were written to before it came."""

    response: HttpResponse
    written: list[str]

    @property
    def shown(self) -> str:
        """As the table of rights has it: `302!`, `in`, `404`."""
        where = self.response.headers.get("Location", "")
        to_sign_in = where.startswith((f"{SIGN_IN}?next=", "/admin/login/?next="))
        word = "in" if to_sign_in else str(self.response.status_code)
        return word + ("!" if self.written else "")


def ask(
    client: Client, method: str, path: str, data: Any = None, **extra: Any
) -> Answer:
    """Whatever it changes is taken back, the session too."""
    cookies = client.cookies.output(header="", sep=";")
    call = getattr(client, method.lower())
    with transaction.atomic():
        point = transaction.savepoint()
        response: Any
        with writes.watched() as written:
            if isinstance(data, bytes):
                response = client.generic(method, path, data, **extra)
            else:
                response = call(path, data, **extra) if data else call(path, **extra)
        transaction.savepoint_rollback(point)
    client.cookies.clear()
    client.cookies.load(cookies)
    return Answer(response, written())
