"""The rows of reviews; import them from here."""

from __future__ import annotations

from reviews.models.decision import Decision
from reviews.models.desk import Draft, Note, Seen
from reviews.models.notification import Notification
from reviews.models.person import Profile, Route
from reviews.models.review import Review

__all__ = [
    "Decision",
    "Draft",
    "Note",
    "Notification",
    "Profile",
    "Review",
    "Route",
    "Seen",
]
