"""Addresses of the inbox and of reviews."""

from __future__ import annotations

from django.urls import path

from reviews import (
    answer_views,
    bulk_views,
    claim_views,
    decision_views,
    draft_views,
    inbox_views,
    note_views,
    profile_views,
    route_views,
    views,
)

app_name = "reviews"

urlpatterns = [
    path("", inbox_views.inbox_page, name="inbox"),
    path("rows/", inbox_views.rows, name="rows"),
    path("profile/", profile_views.page, name="profile"),
    path("profile/routes/", route_views.add, name="routes"),
    path("profile/routes/<int:route_id>/", route_views.change, name="route"),
    path("profile/quiet/", route_views.quiet, name="quiet"),
    path("profile/mute/", route_views.mute, name="mute"),
    path("alike/<slug:shape>/", bulk_views.alike, name="alike"),
    path("together/", bulk_views.together, name="together"),
    path("together/decide/", bulk_views.decide, name="decide_together"),
    path("<uuid:review_id>/", views.detail, name="detail"),
    path("<uuid:review_id>/pane/", views.pane, name="pane"),
    path("<uuid:review_id>/live/", views.live, name="live"),
    path("<uuid:review_id>/happened/", views.happened, name="happened"),
    path("<uuid:review_id>/notes/", note_views.add, name="notes"),
    path("<uuid:review_id>/answer/", answer_views.answer, name="answer"),
    path("<uuid:review_id>/hold/", claim_views.hold, name="hold"),
    path("<uuid:review_id>/draft/<slug:form>/", draft_views.draft, name="draft"),
    path("<uuid:review_id>/decide/<slug:kind>/", decision_views.decide, name="decide"),
    path("<uuid:review_id>/again/", decision_views.ask_again, name="ask_again"),
    path("<uuid:review_id>/undo/", decision_views.undo, name="undo"),
]
