"""Who may do what at every address, a line for each address or group of them.

    methods  address                  nobody guest asker other decider stranger self admin off

A cell is what is answered: a status, or `in` where one is led to the sign-in (what a
page asks by itself gets 401, and so does a form, which is kept). `!` says that rows
were changed; without it not one was. What one may not see is 404, what one may see but not do is 403. A method that
stands in no line of an address is answered with 405, a form that brings a file with 413. The people are those of
`tests.web.scene`. In the admin pages one cell is the admin's; all others are led to
the sign-in.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.web.scene import ROLES

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

PAGES = """
GET HEAD healthz                              200  200  200  200  200  200  200  200  200
GET HEAD readyz                               200  200  200  200  200  200  200  200  200
GET      ·                                    in   302  302  302  302  302  302  302  in
GET HEAD favicon.ico                          302  302  302  302  302  302  302  302  302
GET      pulse/                               in   200  200  200  200  200  200  200  in
POST     preferences/                         302  302  302  302  302  302  302  302  302
POST     demo/sign-in/                        404  404  404  404  404  404  404  404  404
GET      demo/mail/                           in   404  404  404  404  404  404  404  in

GET      runs/                                in   200  200  200  200  200  200  200  in
GET      runs/rows/                           in   200  200  200  200  200  200  200  in
GET      runs/new/                            in   403  200  200  200  200  200  200  in
POST     runs/new/                            401 403  302! 302! 302! 302! 302! 302! 401
GET      runs/<run_id>/                       in   404  200  404  200  404  200  200  in
GET      runs/<run_id>/live/                  in   404  286  404  286  404  286  286  in
GET      runs/<run_id>/watch/                 in   404  204  404  204  404  204  204  in
GET      runs/<run_id>/steps/                 in   404  200  404  200  404  200  200  in
GET      runs/<run_id>/steps/<number>/        in   404  200  404  200  404  200  200  in
GET      runs/<run_id>/metrics.json           in   404  200  404  200  404  200  200  in
GET      runs/<run_id>/steps/<number>/fork/   in   404  403  404  200  404  200  200  in
POST     runs/<run_id>/steps/<number>/fork/   401 404  403  404  302! 404  302! 302! 401
POST     runs/<run_id>/cancel/                401 404  302! 404  302! 404  302! 302! 401

GET      reviews/                             in   403  403  403  200  200  200  200  in
POST     reviews/rows/                        401 403  403  403  200  200  200  200  401
GET      reviews/alike/<shape>/               in   403  403  403  200  200  200  200  in
GET HEAD reviews/together/                    in   403  403  403  200  200  200  200  in
POST     reviews/together/                    401 403  403  403  200  200  200  200  401
POST     reviews/together/decide/             401 403  403  403  200! 200  200  200! 401
GET HEAD reviews/together/decide/             in   403  403  403  405  405  405  405  in

GET      reviews/profile/                     in   200  200  200  200  200  200  200  in
POST     reviews/profile/                     401 302! 302! 302! 302! 302! 302! 302! 401
POST     reviews/profile/routes/              401 302! 302! 302! 302! 302! 302! 302! 401
POST     reviews/profile/routes/<route_id>/   401 404  404  404  302! 404  404  404  401
POST     reviews/profile/quiet/               401 302! 302! 302! 302! 302! 302! 302! 401
POST     reviews/profile/mute/                401 302! 302! 302! 302! 302! 302! 302! 401

GET      reviews/<review_id>/                 in   404  404  404  200! 404  200! 200! in
GET      reviews/<review_id>/pane/            in   404  404  404  200! 404  200! 200! in
GET      reviews/<review_id>/live/            in   404  404  404  204  404  204  204  in
GET      reviews/<review_id>/happened/        in   404  404  404  286  404  286  286  in
POST     reviews/<review_id>/notes/           401 404  404  404  302! 404  302! 302! 401
POST     reviews/<review_id>/draft/<form>/    401 404  404  404  204! 404  204! 204! 401
POST     reviews/<review_id>/hold/            401 404  404  404  302! 404  403  302! 401
POST     reviews/<review_id>/decide/<kind>/   401 404  404  404  302! 404  403  302! 401
GET HEAD reviews/<review_id>/decide/<kind>/   in   404  404  404  405  404  405  405  in
POST     reviews/<review_id>/again/           401 404  404  404  409  404  403  409  401
POST     reviews/<review_id>/undo/            401 404  404  404  409  404  409  409  401
GET      reviews/<review_id>/answer/          in   404  302  404  404  404  302  404  in
POST     reviews/<review_id>/answer/          401 404  403  404  404  404  403  404  401

GET HEAD accounts/login/                      200  302  302  302  302  302  302  302  200
POST     accounts/login/                      302! 302  302  302  302  302  302  302  302!
POST     accounts/logout/                     302  302  302  302  302  302  302  302  302
GET HEAD accounts/password_change/            in   200  200  200  200  200  200  200  in
POST     accounts/password_change/            in   302! 302! 302! 302! 302! 302! 302! in
GET HEAD accounts/password_change/done/       in   200  200  200  200  200  200  200  in
POST     accounts/password_change/done/       in   405  405  405  405  405  405  405  in
GET HEAD accounts/password_reset/             200  200  200  200  200  200  200  200  200
POST     accounts/password_reset/             302! 302! 302! 302! 302! 302! 302! 302! 302!
GET HEAD accounts/password_reset/done/        200  200  200  200  200  200  200  200  200
GET HEAD accounts/reset/<uidb64>/<token>/     200  200  200  200  200  200  200  200  200
POST     accounts/reset/<uidb64>/<token>/     200  200  200  200  200  200  200  200  200
GET HEAD accounts/reset/done/                 200  200  200  200  200  200  200  200  200

GET HEAD admin/login/                         in   403  403  403  403  403  403  in   in
POST     admin/login/                         in   403  403  403  403  403  403  in   in
POST     admin/logout/                        302  302  302  302  302  302  302  302  302
GET HEAD admin/logout/                        302  302  302  302  302  302  302  405  302"""

ADMIN = """
GET HEAD POST admin/                              200
GET HEAD POST admin/<app_label>/                  200
GET HEAD POST admin/<url>/                        404
GET HEAD      admin/password_change/              200
POST          admin/password_change/              302!
GET HEAD      admin/password_change/done/         200
POST          admin/password_change/done/         405
GET HEAD      admin/autocomplete/                 403
POST          admin/autocomplete/                 405
GET HEAD      admin/jsi18n/                       200
POST          admin/jsi18n/                       405
GET HEAD POST admin/r/<content_type_id>/<object_id>/  404
GET HEAD      admin/auth/user/<id>/password/      200
POST          admin/auth/user/<id>/password/      302!

GET HEAD POST admin/{any}/<object_id>/            302
GET HEAD POST admin/{any}/<object_id>/history/    200
GET HEAD      admin/{any}/                        200
GET HEAD      admin/{any}/<object_id>/change/     200

POST          admin/{seen}/                       200
POST          admin/{acted on}/                   302
GET HEAD POST admin/{seen acted on}/add/          403
POST          admin/{seen acted on}/<object_id>/change/   403
GET HEAD POST admin/{seen acted on kept}/<object_id>/delete/   403

POST          admin/{kept}/                       200
GET HEAD POST admin/runs/tool/add/                403
POST          admin/runs/tool/<object_id>/change/ 302!
GET HEAD POST admin/{made}/add/                   200
POST          admin/{made}/<object_id>/change/       200
GET HEAD      admin/{dropped}/<object_id>/delete/ 200
POST          admin/{dropped}/<object_id>/delete/ 302!
POST          admin/{dropped}/                    302!
POST          admin/auth/group/                   403
GET HEAD POST admin/auth/group/<object_id>/delete/   403
"""

GROUPS = {
    # Written by runs and by what people decide: only looked at.
    "seen": (
        "runs/agentversion runs/run runs/step runs/attempt runs/effect"
        " runs/transition runs/driver reviews/review reviews/decision"
        " reviews/route reviews/profile"
    ),
    # Looked at, with an action of their own.
    "acted on": "reviews/notification axes/accessattempt",
    # Changed by admins; what a run has used stays.
    "kept": "runs/agent runs/tool",
    "dropped": "runs/guidance runs/price auth/user",
}
GROUPS["seen acted on"] = f"{GROUPS['seen']} {GROUPS['acted on']}"
GROUPS["seen acted on kept"] = f"{GROUPS['seen acted on']} {GROUPS['kept']}"
GROUPS["made"] = f"runs/agent {GROUPS['dropped']} auth/group"
GROUPS["any"] = f"{GROUPS['seen acted on kept']} {GROUPS['dropped']} auth/group"

Rights = dict[tuple[str, str], dict[str, str]]
"""For an address and a method what each of the people is answered."""


@dataclass(frozen=True)
class Line:
    methods: list[str]
    addresses: list[str]
    cells: list[str]


def rights(text: str) -> Rights:
    found: Rights = {}
    for line in map(_line, filter(None, text.splitlines())):
        for address in line.addresses:
            for method in line.methods:
                assert (address, method) not in found, f"{method} {address} twice"
                found[address, method] = dict(zip(ROLES, line.cells, strict=True))
    return found


def _line(text: str) -> Line:
    group = text.partition("{")[2].partition("}")[0]
    words = (
        text.replace(group, group.replace(" ", "_")).split() if group else text.split()
    )
    methods = [word for word in words if word in METHODS]
    address, *cells = words[len(methods) :]
    if len(cells) == 1:
        cells = ["in"] * (len(ROLES) - 2) + cells + ["in"]
    pattern = "" if address == "·" else address
    name = "{" + group.replace(" ", "_") + "}"
    members = GROUPS[group].split() if group else [""]
    return Line(methods, [pattern.replace(name, one) for one in members], cells)
