"""A prepared query answers as the one it was made from, and is built once."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db.models import Q, QuerySet

from agentops.prepared import Prepared
from tests.support import factory

pytestmark = pytest.mark.django_db


def of(user_id: int) -> QuerySet[Any, Any]:
    """The key stands in it twice, beside another number and text with a sign in it."""
    theirs = Q(user=user_id) | Q(pk=-1, user__id__lt=user_id)
    named = Group.objects.filter(theirs).exclude(name="100 %")
    return named.order_by("name").values_list("pk", "name")


def test_it_answers_for_each_key_as_the_query_does():
    ana = factory.make_user("ana", "operators", "submitters")
    ben = factory.make_user("ben")
    prepared = Prepared(of)

    assert prepared.rows(ana.pk) == list(of(ana.pk))
    assert len(prepared.rows(ana.pk)) == 2
    assert prepared.rows(ben.pk) == []


def test_a_query_that_does_not_ask_for_its_key_is_refused():
    prepared = Prepared(lambda key: Group.objects.values_list("pk"))

    with pytest.raises(ValueError, match="its key"):
        prepared.rows(1)


def test_it_is_built_once_and_asks_once(django_assert_num_queries):
    built: list[int] = []

    def build(key: int) -> QuerySet[Any, Any]:
        built.append(key)
        return of(key)

    prepared = Prepared(build)

    with django_assert_num_queries(2):
        prepared.rows(1)
        prepared.rows(2)

    assert len(built) == 1
