"""The admin pages as a browser sees them: their addresses, forms and errors."""

from __future__ import annotations

from django.urls import reverse


def url(model, page, *args):
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}"
    return reverse(name, args=args)


def agent_form(**fields):
    """What a browser posts for an agent."""
    values = {
        "name": "Reporter",
        "slug": "reporter",
        "prompt": "You report.",
        "max_output_tokens": 2000,
        "context_window": 128_000,
        "enabled": "on",
        "grants": '{"post_letter": {"policy": "always"}}',
        "threshold": "0.75",
        "review_when": "[]",
        "limits": "{}",
        "input_schema": '{"type": "object", "properties": {}}',
        "has_reviewer": "on",
        "versions-TOTAL_FORMS": 0,
        "versions-INITIAL_FORMS": 0,
    }
    return values | fields


def errors(response):
    """The form's errors as one text a field."""
    form = response.context["adminform"].form
    return {name: " ".join(words) for name, words in form.errors.items()}
