"""Nothing that is sent breaks a page: it is refused, or taken for what it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from django.http import QueryDict

from tests.web import table
from tests.web.asking import ask
from tests.web.scene import Scene

pytestmark = pytest.mark.django_db

PAGES, ADMIN = table.rights(table.PAGES), table.rights(table.ADMIN)
WHOSE = {"decider": PAGES, "self": PAGES, "admin": ADMIN}
"""Whose walk goes where: an operator's over the pages, an admin's over the admin's."""
FORM = {"content_type": "application/x-www-form-urlencoded"}

BAD = (
    "a\x00b",
    "a\ud800b",  # half a pair: no text can hold it
    "9" * 40,  # beyond a bigint
    "9" * 5000,  # more digits than Python reads
    "-1",
    "NaN",
    "1e999",
    "١²",  # digits, elsewhere
    "x" * 70_000,
    "[" * 3_000,  # deeper than Python recurses
    '{"a": {"b": [1, null]}}',
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00:00+14:00",
    "00000000-0000-0000-0000-000000000000",
    "'\"><script>alert(1)</script>%s%(a)s{{7*7}}",
    "",
)
ASKED = [
    "q",
    "view",
    "item",
    "after",
    "until",
    "id",
    "before",
    "from",
    "newest",
    "mark",
    "sequence",
    "version",
    "shown",
    "lost",
    "page",
    "p",
    "o",
    "all",
    "again",
    "agent",
    "kind",
    "pick",
    "box",
    "next",
    "short",
    "state",
    "order",
    "by",
    "person",
    "e",
    "_popup",
    "_to_field",
    "risk",
    "reason",
    "age",
    "tool",
    "term",
    "app_label",
    "model_name",
    "field_name",
    "_changelist_filters",
    "status__exact",
    "run__id__exact",
    "created_at__gte",
    "is_active__exact",
    "name",
    "state__exact",
]
"""Names in query strings, of ours and of the admin pages."""
KEPT = ("item_version", "digest", "pick", "agent", "kind", "act", "action")
"""Without these in order a form is refused before the rest of it is read."""
ROUNDS = 2


def addresses(role: str, method: str) -> list[str]:
    return [address for address, known in WHOSE[role] if known == method]


def mixed(names: Iterable[str], turn: int) -> dict[str, str]:
    """A bad value for each name; each turn another one."""
    return {name: BAD[(turn + n) % len(BAD)] for n, name in enumerate(names)}


def encoded(fields: Mapping[str, Any]) -> str:
    """As in an address or a form; what no text can hold goes out as bytes."""
    query = QueryDict(mutable=True)
    for name, value in fields.items():
        query[name] = str(value).encode(errors="surrogatepass")
    return query.urlencode()


def names_in_forms(here: Scene, role: str) -> list[str]:
    """Every name of a field on any page that the person gets to see."""
    client, found = here.client(role), set()
    for pattern in addresses(role, "GET"):
        page = ask(client, "GET", here.path(pattern, role)).response.content.decode()
        found |= set(re.findall(r'\bname="([^"]+)"', page))
    return sorted(found - {"csrfmiddlewaretoken"})


Asked = tuple[str, str, str, dict[str, Any]]
"""Method, path, body, and what else the client is told."""


def broken(here: Scene, role: str, requests: Iterable[Asked]) -> list[str]:
    """Those answered with an error of ours."""
    client, found = here.client(role), []
    for method, path, body, extra in requests:
        answer = ask(client, method, path, body.encode() or None, **extra)
        status = answer.response.status_code
        if status >= 500:
            found.append(f"{method} {path[:60]} {body[:80]!r}: {status}")
    return found


@pytest.mark.parametrize("role", ["decider", "admin"])
def test_no_query_string_breaks_a_page(here, role):
    def asked() -> Iterator[Asked]:
        for number, pattern in enumerate(addresses(role, "GET")):
            for turn in range(ROUNDS):
                values = mixed(ASKED, number + turn * (len(BAD) // ROUNDS))
                query = encoded({name: v[:4000] for name, v in values.items()})
                yield "GET", f"{here.path(pattern, role)}?{query}", "", {}

    assert broken(here, role, asked()) == []


@pytest.mark.parametrize("role", ["decider", "self", "admin"])
def test_no_text_in_a_form_breaks_a_page(here, role):
    names = names_in_forms(here, role)

    def asked() -> Iterator[Asked]:
        for number, pattern in enumerate(addresses(role, "POST")):
            own = here.sent(pattern, role)
            for turn in range(ROUNDS):
                typed: dict[str, Any] = mixed(
                    dict.fromkeys([*own, *names]), number + turn * 7
                )
                if turn % 2:
                    typed |= {name: own[name] for name in KEPT if name in own}
                yield "POST", here.path(pattern, role), encoded(typed), FORM

    assert broken(here, role, asked()) == []


IDS = ("0", "-1", "9" * 40, "x" * 500, "%00", "%ED%A0%80", "..%2f..", "_3A", "'", "é")


def test_no_address_breaks_a_page(here):
    """Whatever stands where an id does; the admin's quoting included."""

    def asked() -> Iterator[Asked]:
        known = dict.fromkeys([*PAGES, *ADMIN])
        for pattern in dict.fromkeys(address for address, _ in known):
            for value in IDS if "<" in pattern else ():
                yield "GET", "/" + re.sub(r"<\w+>", value, pattern), "", {}

    assert broken(here, "admin", asked()) == []


MULTIPART = {"content_type": "multipart/form-data; boundary=x"}
PART = '--x\r\nContent-Disposition: form-data; name="text"'
BODIES = {
    "10 MB": ("text=" + "x" * 10_000_000, FORM),
    "10,000 fields": ("&".join(f"f{n}=1" for n in range(10_000)), FORM),
    "the same field": ("&".join("pick=1" for _ in range(900)), FORM),
    "no UTF-8": ("text=%FF%FE%C0%AF", FORM),
    "another charset": (
        "text=%FF",
        {"content_type": "application/x-www-form-urlencoded; charset=utf-7"},
    ),
    "no such charset": ("text=a", {"content_type": "text/plain; charset=nonsense"}),
    "JSON": ('{"text": "a"}', {"content_type": "application/json"}),
    "broken multipart": (
        "--x\r\nno",
        {"content_type": "multipart/form-data; boundary=x"},
    ),
    "no boundary": ("text=a", {"content_type": "multipart/form-data"}),
    "an odd boundary": (
        "a",
        {"content_type": "multipart/form-data; boundary=" + "é" * 300},
    ),
    "a file": (f'{PART}; filename="a.txt"\r\n\r\na file\r\n--x--\r\n', MULTIPART),
    "base64 that is none": (
        f"{PART}\r\nContent-Transfer-Encoding: base64\r\n\r\n=?!\r\n--x--\r\n",
        MULTIPART,
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_no_body_breaks_a_page(here, name):
    body, extra = BODIES[name]
    forms = [a for a in addresses("decider", "POST") if "admin" not in a]

    asked = [("POST", here.path(pattern, "decider"), body, extra) for pattern in forms]

    assert broken(here, "decider", asked) == []


@pytest.mark.parametrize("name", ["10 MB", "10,000 fields"])
def test_what_is_too_much_is_refused(here, name):
    body, extra = BODIES[name]

    answer = ask(here.client("decider"), "POST", "/reviews/profile/", body, **extra)

    assert answer.shown in {"400", "413"}
