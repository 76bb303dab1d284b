"""The product's own sign-in: Django's rules, in fewer queries."""

from __future__ import annotations

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, Permission, User

from reviews import profile
from reviews.backend import Backend
from reviews.models import Profile
from tests.support import factory

pytestmark = pytest.mark.django_db


def rights(backend, user):
    return backend().get_all_permissions(User.objects.get(pk=user.pk))


@pytest.mark.parametrize("groups", [(), ("submitters",), ("submitters", "admins")])
def test_everybody_has_the_rights_that_django_gives_them(groups):
    user = factory.make_user("ana", *groups)
    user.user_permissions.add(Permission.objects.get(codename="view_price"))

    assert rights(Backend, user) == rights(ModelBackend, user)


def test_the_almighty_have_them_all():
    user = User.objects.create_superuser("root")

    assert rights(Backend, user) == rights(ModelBackend, user)


def test_who_is_inactive_or_not_signed_in_has_none():
    user = factory.make_user("ana", "admins")
    User.objects.update(is_active=False)

    assert rights(Backend, user) == set()
    assert Backend().get_all_permissions(AnonymousUser()) == set()
    assert Backend().get_user(user.pk) is None


def test_a_person_comes_with_rights_and_profile_in_two_queries(
    django_assert_num_queries,
):
    user = factory.make_user("ana", "operators")
    Profile.objects.create(person=user, time_zone="Asia/Tokyo")

    with django_assert_num_queries(2):
        found = Backend().get_user(user.pk)
        assert found is not None
        assert found.has_perm("reviews.decide_review")
        assert profile.of(found).time_zone == "Asia/Tokyo"


def test_a_person_without_a_profile_has_the_defaults(django_assert_num_queries):
    user = factory.make_user("ana", "operators")

    with django_assert_num_queries(1):
        found = Backend().get_user(user.pk)
        assert profile.of(found).single_keys
