"""How a person wants to work and to be told."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.db import models

from reviews.models.review import Risk, risks

_WEB = frozenset({"http", "https"})
"""Of these the host is no secret; elsewhere a token stands in its place."""


class Profile(models.Model):
    """A person's settings; who has no row has the defaults.

    Between `quiet_from` and `quiet_until`, in the person's time zone, nothing is
    sent; what falls due then is sent at the end of it. `muted_until` holds all back.
    """

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        primary_key=True,
        related_name="profile",
    )
    time_zone = models.CharField(max_length=64, blank=True)
    single_keys = models.BooleanField(default=True)
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_until = models.TimeField(null=True, blank=True)
    muted_until = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"settings of {self.person}"


class Route(models.Model):
    """One way to reach a person, from a risk on.

    `channel` is a notifier's name, `address` where it sends to: an e-mail address or
    the address of a service, which may hold a secret and is not shown again in full.
    Who has no route is told by e-mail.
    """

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="routes"
    )
    channel = models.CharField(max_length=30)
    address = models.CharField(max_length=500)
    least_risk = models.CharField(max_length=10, choices=risks, default=Risk.LOW)
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["person", "channel", "address"], name="one_route_per_address"
            )
        ]

    def __str__(self) -> str:
        return f"{self.channel} to {self.person}"

    @property
    def shown(self) -> str:
        """The address without what may be secret in it."""
        scheme, mark, rest = self.address.partition("://")
        if not mark:
            return self.address
        host = urlsplit(self.address).hostname if scheme in _WEB else ""
        target = rest.rpartition("/#")[2] if "/#" in rest else ""
        start = f"{scheme}://{host}/…" if host else f"{scheme}://…"
        return f"{start} #{target}" if target else start
