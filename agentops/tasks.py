"""What the queue runs for pages that belong to no app."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.contrib.auth.forms import PasswordResetForm

from agentops.conf import product


def mail_a_link(address: str) -> None:
    """Mail everybody with that address a link to set a password, if there is somebody.

    It leads to where the settings say the pages are, whatever a browser has said.
    """
    ours = urlsplit(product().base_url)
    form = PasswordResetForm({"email": address})
    if form.is_valid():
        form.save(domain_override=ours.netloc, use_https=ours.scheme == "https")
