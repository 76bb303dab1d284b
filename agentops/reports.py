"""What Django tells of an error nobody foresaw, on its page with `DEBUG` or by mail."""

from __future__ import annotations

from django.utils.safestring import SafeString, mark_safe
from django.views.debug import ExceptionReporter

from agentops import redaction


class Reporter(ExceptionReporter):
    """Goes by values, where Django goes by the names of settings and variables."""

    def get_traceback_html(self) -> SafeString:
        html = redaction.hide(super().get_traceback_html())
        return mark_safe(html)  # noqa: S308 - Django's own page, with placeholders

    def get_traceback_text(self) -> SafeString:
        return SafeString(redaction.hide(super().get_traceback_text()))
