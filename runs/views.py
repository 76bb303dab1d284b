"""The pages of runs: list, new task, one run live, one step, cancel, metrics."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh, HttpResponseStopPolling

from agentops import clock, typed
from agentops.http import AuthenticatedRequest, number_or_none, polled, signed_in
from agentops.pages import problem
from runs import expectation, forking, glance, listing, metrics, page, services
from runs.errors import BadInput, NotPermitted, Stale
from runs.forms import CancelForm, TaskForm
from runs.models import Agent, Run, Step
from runs.states import RunState

UNPROCESSABLE = 422
NO_CONTENT = 204


@require_GET
@signed_in
def run_list(request: AuthenticatedRequest) -> HttpResponse:
    """Every run the person may see, newest first; the address holds all filters."""
    filters = listing.Filters.read(request.GET)
    context = {
        "filters": filters,
        "page": listing.Page.of(filters, request.user, clock.now()),
        "choices": listing.choices_for(request.user),
        "now": clock.now(),
    }
    return render(request, "runs/list.html", context)


@require_GET
@signed_in
@polled
def rows(request: AuthenticatedRequest) -> HttpResponse:
    """The rows a list shows, fresh, in their order; new ones are only counted.

    Where none is shown there is no place to lose: the list is filled.
    """
    filters = listing.Filters.read(request.GET)
    newest, now = request.GET.get("newest", ""), clock.now()
    shown = listing.Page.again(request.GET.getlist("id"), newest, request.user)
    if shown.runs or filters.before:
        news = listing.news(filters, request.user, newest)
    else:
        shown, news = listing.Page.of(filters, request.user, now), 0
    context = {"filters": filters, "page": shown, "news": news, "now": now}
    return render(request, "runs/_rows.html", context)


# A new task


@require_http_methods(["GET", "POST"])
@signed_in
def new(request: AuthenticatedRequest) -> HttpResponse:
    """Choose an agent and fill its form in; sent twice, it still makes one run."""
    if not request.user.has_perm("runs.submit_run"):
        raise PermissionDenied("Your sign-in may not give tasks to agents.")
    agents = list(Agent.objects.filter(enabled=True))
    agent = _chosen(request, agents)
    if agent is None:
        return _without_agent(request, agents)
    if request.method == "POST":
        return _start(request, agents, agent)
    return _show_form(request, agents, agent, _form_to_repeat(request, agent))


def _chosen(request: AuthenticatedRequest, agents: list[Agent]) -> Agent | None:
    slug = request.POST.get("agent") or request.GET.get("agent")
    if slug is None:
        return agents[0] if agents else None
    return next((agent for agent in agents if agent.slug == slug), None)


def _without_agent(request: AuthenticatedRequest, agents: list[Agent]) -> HttpResponse:
    asked = "agent" in request.GET or "agent" in request.POST
    status = UNPROCESSABLE if request.method == "POST" else 404 if asked else 200
    context = {"agents": agents, "agent": None, "is_unknown": asked}
    return render(request, "runs/new.html", context, status=status)


def _form_to_repeat(request: AuthenticatedRequest, agent: Agent) -> TaskForm:
    """Filled with the task of the run named by `again`, if the person may see it."""
    key = get_random_string(32)
    run = _find(request, request.GET.get("again", ""))
    if run is None or run.agent_id != agent.pk:
        return TaskForm(agent, key=key)
    return TaskForm(agent, key=key, initial_inputs=run.inputs, initial_task=run.task)


def _start(
    request: AuthenticatedRequest, agents: list[Agent], agent: Agent
) -> HttpResponse:
    form = TaskForm(agent, request.POST)
    form.refuse(_hidden_in(request))
    if form.is_valid():
        try:
            run = services.start(
                agent=agent,
                by=request.user,
                task=form.task,
                inputs=form.inputs,
                limits=form.limits or None,
                key=form.cleaned_data["key"] or None,
            )
        except BadInput as error:
            form.refuse(error)
        except NotPermitted as error:
            raise PermissionDenied(error.message) from error
        else:
            return redirect("runs:detail", run.id)
    return _show_form(request, agents, agent, form, status=UNPROCESSABLE)


def _hidden_in(request: AuthenticatedRequest) -> BadInput:
    """Said beside the field before anything starts: without it the task may be moot."""
    return BadInput(
        {
            name: f"Here was {kinds}. It is hidden, and the agent never gets to see it."
            " Send it so, or say what you want in another way."
            for name, kinds in typed.hidden_in(request).items()
        }
    )


def _show_form(
    request: AuthenticatedRequest,
    agents: list[Agent],
    agent: Agent,
    form: TaskForm,
    status: int = 200,
) -> HttpResponse:
    context = {
        "agents": agents,
        "agent": agent,
        "form": form,
        "expected": expectation.of(agent),
        "abilities": expectation.abilities(agent),
    }
    return render(request, "runs/new.html", context, status=status)


# One run


@require_GET
@signed_in
def detail(request: AuthenticatedRequest, run_id: UUID) -> HttpResponse:
    run = _run(request, run_id)
    return render(request, "runs/detail.html", _context(request, run))


@require_GET
@signed_in
@polled
def live(request: AuthenticatedRequest, run_id: UUID) -> HttpResponse:
    """The page's content once more, if it has moved; the last one ends the asking."""
    if glance.is_as_seen(request.user, run_id, request.GET.get("seen", "")):
        return HttpResponse(status=NO_CONTENT)
    run = _run(request, run_id)
    first = number_or_none(request.GET.get("from", ""))
    context = _context(request, run, first) | {"is_fragment": True}
    response = render(request, "runs/_run.html", context)
    if not RunState(run.state).is_active:
        return HttpResponseStopPolling(response.content)
    return response


@require_GET
@signed_in
@polled
def watch(request: AuthenticatedRequest, run_id: UUID) -> HttpResponse:
    """Nothing while a parked run stays as it is; then the page loads itself anew."""
    run = _run(request, run_id)
    seen = request.GET.get("sequence", "")
    if run.state == RunState.AWAITING_HUMAN and seen in ("", str(run.sequence)):
        return HttpResponse(status=NO_CONTENT)
    return HttpResponseClientRefresh()


@require_GET
@signed_in
def steps(request: AuthenticatedRequest, run_id: UUID) -> HttpResponse:
    """The steps before the one named by `before`, for histories of any length."""
    run = _run(request, run_id)
    context = page.earlier(run, number_or_none(request.GET.get("before", "")))
    context["may_fork"] = page.may_fork(run, request.user)
    name = "runs/_steps.html" if request.htmx else "runs/steps.html"
    return render(request, name, context)


@require_GET
@signed_in
def step(request: AuthenticatedRequest, run_id: UUID, number: int) -> HttpResponse:
    """One step with all that was recorded, and the exact prompt of a model call."""
    run = _run(request, run_id)
    found = get_object_or_404(Step, run=run, number=number)
    context = page.one_step(run, found)
    name = "runs/_prompt.html" if request.htmx else "runs/step.html"
    return render(request, name, context)


@require_POST
@signed_in
def cancel(request: AuthenticatedRequest, run_id: UUID) -> HttpResponse:
    """End a run for good, with a reason; 409 if it has ended already, 422 without one."""
    run = _run(request, run_id)
    if not page.may_cancel(run, request.user):
        raise PermissionDenied("Only its submitter and operators may cancel a run.")
    here = reverse("runs:detail", args=[run.id])
    form = CancelForm(request.POST)
    if not form.is_valid():
        return problem(
            request,
            422,
            title="A reason is missing",
            happened=" ".join(str(words[0]) for words in form.errors.values()),
            kept="Nothing was changed: the run is as it was.",
            next_steps=[("Open the run", here)],
        )
    try:
        services.cancel(run.id, by=request.user, reason=form.cleaned_data["reason"])
    except Stale as error:
        return problem(
            request,
            409,
            title="This run has ended already",
            happened=error.message,
            kept="Nothing was changed. All of its steps stay readable.",
            next_steps=[("Open the run", here)],
        )
    except NotPermitted as error:
        raise PermissionDenied(error.message) from error
    messages.success(request, "The run is cancelled. Its steps stay readable.")
    return redirect(here)


@require_http_methods(["GET", "POST"])
@signed_in
def fork(request: AuthenticatedRequest, run_id: UUID, number: int) -> HttpResponse:
    """Ask, then start a run from that step; 409 where it cannot start from there."""
    run = _run(request, run_id)
    found = get_object_or_404(Step, run=run, number=number)
    if not forking.may_fork(run, request.user):
        raise PermissionDenied("You do not decide on the runs of this agent.")
    if request.method == "GET":
        context = page.before_fork(run, found)
        return render(request, "runs/fork.html", context)
    try:
        made = forking.fork(run.id, number, by=request.user)
    except (Stale, BadInput) as error:
        return problem(
            request,
            409,
            title="This run cannot be retried from there",
            happened=error.message,
            kept="Nothing was started, and nothing was changed.",
            next_steps=[("Open the run", reverse("runs:detail", args=[run.id]))],
        )
    messages.success(request, f"A new run goes on from step {number}.")
    return redirect("runs:detail", made.id)


@require_GET
@signed_in
def metrics_json(request: AuthenticatedRequest, run_id: UUID) -> JsonResponse:
    return JsonResponse(metrics.summary(_run(request, run_id)))


def _run(request: AuthenticatedRequest, run_id: UUID) -> Run:
    """404 for what is not there and for what the person may not see, alike."""
    runs = Run.objects.visible_to(request.user)
    return get_object_or_404(
        runs.select_related("agent", "version", "submitter"), pk=run_id
    )


def _context(
    request: AuthenticatedRequest, run: Run, first: int | None = None
) -> dict[str, Any]:
    """The page's, the figures once the run rests, and what is asked at its end."""
    rests = not RunState(run.state).is_active
    figures = metrics.summary(run) if rests else None
    shown = page.of(run, request.user, first)
    return shown | {"figures": figures, "cancel": CancelForm()}


def _find(request: AuthenticatedRequest, text: str) -> Run | None:
    try:
        return _run(request, UUID(text))
    except (ValueError, Http404):
        return None
