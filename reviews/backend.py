"""Signing in by name and password, throttled, with few questions to the database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from axes.backends import AxesStandaloneBackend
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission, User
from django.db.models import Q, QuerySet

from agentops.prepared import Prepared


class Backend(AxesStandaloneBackend, ModelBackend):  # type: ignore[misc] # untyped
    """Django's own, with the person's profile and all their rights in a query each.

    A page asks for both every time; Django would take two more queries.
    """

    def authenticate(
        self, request: Any, username: Any = None, password: Any = None, **kwargs: Any
    ) -> Any:
        """None for a wrong password; raises PermissionDenied where a lock holds."""
        super().authenticate(request, username, password, **kwargs)
        return ModelBackend.authenticate(self, request, username, password, **kwargs)

    def get_user(self, user_id: int) -> User | None:
        found = User.objects.select_related("profile").filter(pk=user_id).first()
        if found is None or not self.user_can_authenticate(found):
            return None
        # For as long as the request: see `AgentQuerySet.ids_decided_by`.
        found.remembered = {}  # type: ignore[attr-defined]
        return found

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        is_known = user_obj.is_active and not user_obj.is_anonymous and obj is None
        if is_known and not hasattr(user_obj, "_perm_cache"):
            user_obj._perm_cache = _permissions(user_obj)
        return super().get_all_permissions(user_obj, obj)


def _permissions(user: User) -> set[str]:
    """As names with their app: their own, their groups', or all there are."""
    if user.is_superuser:
        found: Iterable[Any] = Permission.objects.order_by().values_list(*_NAME)
    else:
        found = _PERMITTED.rows(user.pk)
    return {f"{label}.{name}" for label, name in found}


def _permitted(user_id: int) -> QuerySet[Any, Any]:
    theirs = Q(user=user_id) | Q(group__user=user_id)
    return Permission.objects.order_by().filter(theirs).distinct().values_list(*_NAME)


_NAME = ("content_type__app_label", "codename")
_PERMITTED = Prepared(_permitted)
