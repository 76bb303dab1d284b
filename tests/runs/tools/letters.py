"""A call of send_email, as the tests make it."""

from __future__ import annotations

from typing import Any

from runs.tools.send_email import send_email

CALL = {
    "to": ["analytics@company.com"],
    "subject": "Q3 2024 Revenue Summary",
    "body_markdown": "# Q3\n\nSeptember grew **37.3 %**.\n\n.\n.dots\n<script>",
}


def call(**changes: Any) -> dict[str, Any]:
    return send_email.validate({**CALL, **changes})
