"""Django's admin for agents, tools and prices, and a look at all that runs wrote.

What the engine writes can be seen here and never changed.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.apps import apps
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Count, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agentops import clock
from runs import words
from runs.admin_forms import (
    AgentForm,
    GuidanceForm,
    KnownRows,
    PriceForm,
    ToolForm,
)
from runs.admin_pages import Findable, NoWrites, SeenOnly, Shown
from runs.agents import publish
from runs.canonical import shorten
from runs.models import (
    Agent,
    AgentVersion,
    Attempt,
    Driver,
    Effect,
    Guidance,
    Price,
    Run,
    Step,
    Tool,
    Transition,
)
from runs.templatetags.words import visible
from runs.tools import registry
from runs.tools.base import ToolSpec

admin.site.site_header = "agentops"
admin.site.site_title = "agentops admin"
admin.site.index_title = "Agents, tools, budgets, people"


# Whoever writes the queue's rows has the worker run what they like.
for model in apps.get_app_config("django_q").get_models():
    if admin.site.is_registered(model):
        admin.site.unregister(model)
admin.site.unregister([Group, User])


class VersionInline(NoWrites, admin.TabularInline):
    model = AgentVersion
    fields = ("number", "created_at", "created_by", "fingerprint")
    readonly_fields = fields
    ordering = ("-number",)
    extra = 0
    show_change_link = True
    verbose_name_plural = "versions: each is what some runs have frozen"

    @admin.display(description="digest")
    def fingerprint(self, version: AgentVersion) -> str:
        return version.digest[:12]


class Choosing(Findable):
    """With fields that choose among rows."""

    def formfield_for_manytomany(self, *args: Any, **kwargs: Any) -> Any:
        return super().formfield_for_manytomany(
            *args, **kwargs | {"form_class": KnownRows}
        )


@admin.register(Agent)
class AgentAdmin(Choosing, Shown):
    """Saving publishes a numbered version; runs that have started keep theirs."""

    form = AgentForm
    list_display = ("name", "slug", "shown_model", "enabled", "newest", "updated_at")
    list_filter = ("enabled", "plan_first", "has_reviewer")
    search_fields = ("name", "slug", "description", "prompt")
    prepopulated_fields = {"slug": ("name",)}
    filter_horizontal = ("deciders",)
    readonly_fields = ("updated_at", "kept")
    inlines = (VersionInline,)
    fieldsets = (
        (None, {"fields": ("name", "slug", "description", "enabled", "updated_at")}),
        (
            "What it does",
            {"fields": ("prompt", "task_template", "input_schema", "plan_first")},
        ),
        (
            "Model",
            {
                "fields": (
                    "model",
                    "check_model",
                    "max_output_tokens",
                    "context_window",
                )
            },
        ),
        (
            "What it may do, and when it asks",
            {"fields": ("grants", "threshold", "review_when", "check_answer")},
        ),
        ("Budgets", {"fields": ("limits",)}),
        ("Kept guidance", {"fields": ("kept",)}),
        (
            "Who decides",
            {
                "fields": (
                    "deciders",
                    "allow_self_decision",
                    "submitter_answers",
                    "afterwards_below",
                    "has_reviewer",
                )
            },
        ),
    )

    @admin.display(description="model", ordering="model")
    def shown_model(self, agent: Agent) -> str:
        return agent.model or "the default"

    @admin.display(description="given to every new run")
    def kept(self, agent: Agent) -> SafeString | str:
        rows = agent.guidance.filter(enabled=True) if agent.pk else []
        lines = (
            (_page("guidance", row.pk), visible(shorten(row.text, 200))) for row in rows
        )
        listed = format_html_join("", '<li><a href="{}">{}</a></li>', lines)
        return format_html("<ul>{}</ul>", listed) if listed else "none"

    @admin.display(description="version")
    def newest(self, agent: Agent) -> str:
        versions = [version.number for version in agent.versions.all()]
        return str(max(versions)) if versions else "none yet"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Agent]:
        return super().get_queryset(request).prefetch_related("versions")

    def has_delete_permission(
        self, request: HttpRequest, obj: Agent | None = None
    ) -> bool:
        """An agent that ever had a version stays, switched off if need be."""
        may = super().has_delete_permission(request, obj)
        return may and obj is not None and not obj.versions.exists()

    def save_related(
        self,
        request: HttpRequest,
        form: ModelForm,
        formsets: Any,
        change: bool,
    ) -> None:
        super().save_related(request, form, formsets, change)
        before = form.instance.versions.count()
        version = publish(form.instance, by=request.user)  # type: ignore[arg-type] # signed in
        after = form.instance.versions.count()
        words = (
            f"Version {version.number} is published; new runs use it."
            if after > before
            else f"Nothing that runs freeze has changed: version {version.number} stays."
        )
        messages.info(request, words)


@admin.register(AgentVersion)
class AgentVersionAdmin(SeenOnly):
    list_display = ("agent", "number", "created_at", "created_by")
    list_filter = ("agent",)
    list_select_related = ("agent", "created_by")
    search_fields = ("agent__name", "digest")


@admin.register(Tool)
class ToolAdmin(Findable):
    """A row per tool there is; what is set here holds for all agents, at once."""

    form = ToolForm
    list_display = ("name", "words", "effect", "enabled", "policy", "threshold")
    list_filter = ("enabled", "policy")
    search_fields = ("name",)
    readonly_fields = ("name", "words", "effect", "parameters", "updated_at")
    fieldsets = (
        (None, {"fields": ("name", "words", "effect", "parameters", "updated_at")}),
        ("Policy", {"fields": ("enabled", "policy", "threshold", "untrusted")}),
        ("Bounds", {"fields": ("timeout_s", "attempts", "result_limit")}),
        ("Decisions on its calls", {"fields": ("undo_s", "due_s", "expires_s")}),
        ("Settings", {"fields": ("settings",)}),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: Tool | None = None
    ) -> bool:
        return False

    @admin.display(description="what it does")
    def words(self, tool: Tool) -> str:
        spec = _spec(tool)
        return shorten(spec.description, 200) if spec else "This tool is not installed."

    @admin.display(description="effect")
    def effect(self, tool: Tool) -> str:
        spec = _spec(tool)
        return spec.effect.value if spec else ""

    @admin.display(description="parameters")
    def parameters(self, tool: Tool) -> str:
        spec = _spec(tool)
        return ", ".join(spec.parameters.get("properties", {})) if spec else ""


def _spec(tool: Tool) -> ToolSpec | None:
    try:
        return registry.get(tool.name)
    except KeyError:
        return None


def _page(model: str, pk: Any) -> str:
    return reverse(f"admin:runs_{model}_change", args=[pk])


@admin.register(Guidance)
class GuidanceAdmin(Shown):
    """Words kept for later runs; what runs have started with stays theirs."""

    form = GuidanceForm
    list_display = ("__str__", "scope", "owner", "expires_at", "enabled", "used")
    list_filter = ("enabled", "agent", "tool")
    list_select_related = ("agent", "owner")
    search_fields = ("text",)
    fields = (*GuidanceForm.Meta.fields, "owner", "created_at", "used")
    readonly_fields = ("owner", "created_at", "used")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Guidance]:
        rows: QuerySet[Guidance] = super().get_queryset(request)
        return rows.annotate(runs_since=Count("runs"))

    def save_model(
        self, request: HttpRequest, obj: Guidance, form: ModelForm, change: bool
    ) -> None:
        if not change:
            obj.owner = request.user  # type: ignore[assignment] # signed in
            obj.created_at = clock.now()
        super().save_model(request, obj, form, change)

    def has_delete_permission(
        self, request: HttpRequest, obj: Guidance | None = None
    ) -> bool:
        """What a run was given stays, switched off if need be."""
        may = super().has_delete_permission(request, obj)
        return may and not (obj and obj.runs.exists())

    @admin.display(description="holds for")
    def scope(self, row: Guidance) -> str:
        return row.agent.name if row.agent else f"every agent with {row.tool}"

    @admin.display(description="used", ordering="runs_since")
    def used(self, row: Guidance) -> str:
        since = getattr(row, "runs_since", 0)
        return f"in {words.plural(since, 'run')} since"


@admin.register(Price)
class PriceAdmin(Findable):
    form = PriceForm
    list_display = ("model", "input", "cached", "output", "updated_at")
    search_fields = ("model",)


@admin.register(User)
class PeopleAdmin(Choosing, UserAdmin):
    """Django's own."""


@admin.register(Group)
class DecidersAdmin(Choosing, GroupAdmin):
    """A group that decides on an agent stays: without any, all operators decide."""

    def has_delete_permission(
        self, request: HttpRequest, obj: Group | None = None
    ) -> bool:
        may = super().has_delete_permission(request, obj)
        return may and not (obj and Agent.objects.filter(deciders=obj).exists())


class OfRun(SeenOnly):
    """Rows that belong to a run."""

    list_select_related = ("run",)
    search_fields: ClassVar[tuple[str, ...]] = ("run__id__exact",)
    search_help_text = "The whole id of a run."


@admin.register(Run)
class RunAdmin(SeenOnly):
    list_display = (
        "short_id",
        "agent",
        "submitter",
        "state",
        "park_reason",
        "steps_used",
        "cost",
        "created_at",
        "page",
    )
    list_filter = ("state", "park_reason", "agent")
    list_select_related = ("agent", "submitter")
    search_fields = ("=id", "task", "submitter__username")

    @admin.display(description="run", ordering="id")
    def short_id(self, run: Run) -> str:
        return str(run.pk)[:8]

    @admin.display(description="page")
    def page(self, run: Run) -> SafeString:
        url = reverse("runs:detail", args=[run.pk])
        return format_html('<a href="{}">open</a>', url)


@admin.register(Step)
class StepAdmin(OfRun):
    list_display = (
        "run",
        "number",
        "kind",
        "name",
        "status",
        "error_class",
        "cost",
        "planned_at",
    )
    list_filter = ("kind", "status", "error_class")


@admin.register(Attempt)
class AttemptAdmin(OfRun):
    list_display = ("run", "step_number", "number", "error_class", "started_at")
    list_filter = ("error_class",)


@admin.register(Effect)
class EffectAdmin(OfRun):
    list_display = ("short_key", "run", "tool", "occurrence", "status", "started_at")
    list_filter = ("status", "tool")
    search_fields = ("=key", "run__id__exact")
    search_help_text = "The whole id of a run, or the whole key."

    @admin.display(description="key", ordering="key")
    def short_key(self, effect: Effect) -> str:
        return effect.key[:12]


@admin.register(Transition)
class TransitionAdmin(OfRun):
    list_display = ("run", "from_state", "to_state", "reason", "actor", "at")
    list_filter = ("to_state",)


@admin.register(Driver)
class DriverAdmin(SeenOnly):
    list_display = ("owner", "host", "slot", "pid", "held", "beat_at", "ended_at")
    list_filter = ("host",)
    search_fields = ("owner", "host")
