"""A form that brings a file is refused with a page, and its words are not lost."""

from __future__ import annotations

import pytest
from django.core.files import temp
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from reviews.models import Note
from tests.support import factory

pytestmark = pytest.mark.django_db

WORDS = "Ask finance first."


@pytest.fixture
def ana(client):
    client.force_login(factory.make_user("ana", "operators"))
    return client


def notes(review):
    return f"/reviews/{review.pk}/notes/"


def file(content=b"a file", name="plan.pdf"):
    return SimpleUploadedFile(name, content, "application/pdf")


def test_nothing_is_taken_and_the_words_can_be_sent_again(ana):
    review = factory.park()

    answer = ana.post(notes(review), {"file": file(), "text": WORDS})

    page = answer.content.decode()
    assert answer.status_code == 413
    assert "No form here takes a file" in page
    assert f'<input type="hidden" name="text" value="{WORDS}">' in page
    assert "plan.pdf" not in page
    assert not Note.objects.exists()


def test_what_a_page_sends_by_itself_is_refused_in_a_line(ana):
    review = factory.park()

    answer = ana.post(
        notes(review), {"file": file(), "text": WORDS}, headers={"HX-Request": "true"}
    )

    assert answer.status_code == 413
    assert answer.content.startswith(b"No form here takes a file")
    assert b"<" not in answer.content


def test_a_form_in_parts_without_a_file_is_taken(ana):
    """As drafts are sent; a field for a file that was left empty is none."""
    review = factory.park()
    parts = (
        '--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n'
        f'{WORDS}\r\n--x\r\nContent-Disposition: form-data; name="file"; filename=""'
        "\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--x--\r\n"
    )

    answer = ana.generic(
        "POST", notes(review), parts, content_type="multipart/form-data; boundary=x"
    )

    assert answer.status_code == 302
    assert Note.objects.get().text == WORDS


def test_the_token_behind_the_file_is_read():
    """Whose form it is has to be known first: of another site it is refused as such."""
    page = Client(enforce_csrf_checks=True)
    page.get("/accounts/login/")
    token = page.cookies["agentops_csrf"].value

    with_token = {"file": file(), "csrfmiddlewaretoken": token, "theme": "dark"}
    without = {"file": file(), "theme": "dark"}

    assert page.post("/preferences/", with_token).status_code == 413
    assert page.post("/preferences/", without).status_code == 403


@pytest.mark.parametrize("size", [10, 3_000_000])
def test_nothing_of_it_is_kept_on_the_way(ana, size, monkeypatch):
    made = []
    monkeypatch.setattr(temp, "NamedTemporaryFile", lambda *a, **k: made.append(a))

    answer = ana.post("/preferences/", {"file": file(b"x" * size), "theme": "dark"})

    assert answer.status_code in {400, 413}
    assert "theme" not in answer.cookies
    assert made == []


def test_a_secret_beside_the_file_does_not_come_back(ana):
    secret = "sk-" + "Zq7RtB2mKx9WvL4pHd8sYc3n"

    answer = ana.post("/preferences/", {"file": file(), "text": f"use {secret}"})

    assert answer.status_code == 413
    assert secret not in answer.content.decode()
