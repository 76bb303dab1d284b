"""Settings, all from the environment (docs/deploy.md lists the variables).

Without any variable this is the embedded installation: SQLite, a secret key
made once, plain HTTP on this host and the demo model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF

from agentops import conf, env, log, secret

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("AGENTOPS_VAR", str(BASE_DIR / "var")))

# Who we are
DEBUG = env.flag("DEBUG")
SECRET_KEY = env.text("SECRET_KEY") or secret.key_in(VAR_DIR)
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    # Before ours, which put their own in the place of some of their admin pages.
    "django.contrib.auth",
    "django_q",
    "agentops",
    "reviews",
    "runs",
    "django.contrib.admin",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "axes",
    *env.words("AGENTOPS_APPS"),
]

MIDDLEWARE = [
    # Around all others, so that no answer is without these headers.
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "agentops.middleware.policies",
    "django.middleware.security.SecurityMiddleware",
    "agentops.middleware.known_methods",
    "agentops.middleware.possible_paths",
    # Who probes names an address, not a host of ours.
    "runs.health_views.answer_probes",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "agentops.middleware.kept_nowhere",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "agentops.sessions.bounded",
    "agentops.sessions.remembering",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "reviews.middleware.in_their_time",
    "agentops.typed.WithoutSecrets",
    "agentops.uploads.Refused",
    "axes.middleware.AxesMiddleware",
]

FILE_UPLOAD_HANDLERS = ["agentops.uploads.ReadPast"]

ROOT_URLCONF = "agentops.urls"
WSGI_APPLICATION = "agentops.wsgi.application"
ASGI_APPLICATION = "agentops.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# Rows
DATABASE_URL = env.database("DATABASE_URL", f"sqlite:///{VAR_DIR / 'agentops.sqlite3'}")
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    # FULL: a committed intent must survive a power cut, or it is acted on twice.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
}


def database(url: str) -> dict[str, Any]:
    """Django's settings for one database, from its URL."""
    found: dict[str, Any] = dict(dj_database_url.parse(url))
    if found["ENGINE"] == "django.db.backends.sqlite3":
        return found | {"OPTIONS": found.get("OPTIONS", {}) | SQLITE_OPTIONS}
    return found | {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}


DATABASES = {"default": database(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The product's own numbers
AGENTOPS = conf.from_environment()
# `agentops.sessions` ends them; the cookie and the row are kept no longer.
SESSION_COOKIE_AGE = int(AGENTOPS.session_idle_s)

TASK_TIMEOUT_S = 60
# A task that was taken waits in the worker's own queue for those before it: two there
# (`queue_limit`) and one on each of its processes, drivers apart, with time to spare.
TAKEN_AND_WAITING_S = 7 * TASK_TIMEOUT_S

Q_CLUSTER: dict[str, Any] = {
    "name": "agentops",
    "orm": "default",
    "broker_class": "runs.queue.Broker",
    "ALT_CLUSTERS": {},
    "workers": env.integer("AGENTOPS_WORKERS", 3, minimum=2),
    "timeout": TASK_TIMEOUT_S,
    # After it a task counts as lost and is handed out again.
    "retry": max(1500, AGENTOPS.drive_timeout_s + TAKEN_AND_WAITING_S),
    "ack_failures": True,
    "max_attempts": 1,
    "save_limit": -1,
    "queue_limit": 2,
    "bulk": 1,
    "poll": 0.1,
    "recycle": 50,
    "catch_up": False,
    "log_level": "WARNING",
    "guard_cycle": 0.5,
}

# Steps that have ended, rendered: they never change. Each web process has its own.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
    # Rows of the inbox as they look now, for some seconds.
    "rows": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "rows",
        "OPTIONS": {"MAX_ENTRIES": 1000},
    },
}

# People
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
AUTHENTICATION_BACKENDS = ["reviews.backend.Backend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# Too many tries: `agentops.throttle` says what that is
AXES_HANDLER = "agentops.throttle.Handler"
AXES_LOCKOUT_PARAMETERS = "agentops.throttle.together"
AXES_FAILURE_LIMIT = "agentops.throttle.tries"
AXES_COOLOFF_TIME = "agentops.throttle.lock"
AXES_CLIENT_IP_CALLABLE = "agentops.throttle.address"
AXES_LOCKOUT_CALLABLE = "agentops.throttle.locked_out"
AXES_RESET_ON_SUCCESS = True
# Who goes on trying does not put the end off: it is known from the start.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# Time and words
LANGUAGE_CODE = "en-gb"
TIME_ZONE = env.zone("TIME_ZONE", "UTC")
USE_TZ = True
USE_I18N = False

# HTTPS: one switch turns on all that a site behind it wants
HTTPS = env.flag("AGENTOPS_HTTPS")
SECURE_SSL_REDIRECT = env.flag("SECURE_SSL_REDIRECT", HTTPS)
# Probes speak no TLS.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = env.integer("SECURE_HSTS_SECONDS", 31_536_000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.flag("SECURE_HSTS_INCLUDE_SUBDOMAINS")
SECURE_HSTS_PRELOAD = env.flag("SECURE_HSTS_PRELOAD")
# Both bind hosts that are not ours, so a site may well leave them off.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
BEHIND_PROXY = env.flag("AGENTOPS_BEHIND_PROXY")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SESSION_COOKIE_SECURE = HTTPS
# `__Host-`: no other host of the domain, and no plain HTTP, can set such a cookie.
COOKIE_PREFIX = "__Host-" if HTTPS else ""
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}agentops_session"
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}agentops_csrf"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "agentops.again.refused"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Static files: collected and compressed for a site, found in place elsewhere
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC = env.choice(
    "AGENTOPS_STATIC",
    "collected" if HTTPS else "in place",
    among=("collected", "in place"),
)
STATIC_ROOT = (
    Path(env.text("STATIC_ROOT", str(BASE_DIR / "staticfiles")))
    if STATIC == "collected"
    else None
)
WHITENOISE_USE_FINDERS = STATIC == "in place"
WHITENOISE_ALLOW_ALL_ORIGINS = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if STATIC == "collected"
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# Mail: a server if one is named, else files if a folder is named, else the console
EMAIL_HOST = env.text("EMAIL_HOST")
EMAIL_PORT = env.integer("EMAIL_PORT", 587, minimum=1)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_SECURITY = env.choice(
    "EMAIL_SECURITY", "starttls", among=("none", "starttls", "tls")
)
EMAIL_USE_TLS = EMAIL_SECURITY == "starttls"
EMAIL_USE_SSL = EMAIL_SECURITY == "tls"
EMAIL_TIMEOUT = env.integer("EMAIL_TIMEOUT", 20, minimum=1)
EMAIL_FILE_PATH = env.text("EMAIL_FILE_PATH") or None
EMAIL_BACKEND = env.text("EMAIL_BACKEND") or (
    "django.core.mail.backends.smtp.EmailBackend"
    if EMAIL_HOST
    else "agentops.mail.FileBackend"
    if EMAIL_FILE_PATH
    else "django.core.mail.backends.console.EmailBackend"
)
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "agentops@localhost")
SERVER_EMAIL = DEFAULT_FROM_EMAIL

# Tools
AGENTOPS_TOOL_DATABASE_URL = env.text("AGENTOPS_TOOL_DATABASE_URL")

# Log, and the page that DEBUG shows of an error
LOGGING = log.config()
DEFAULT_EXCEPTION_REPORTER = "agentops.reports.Reporter"

# Only the command `demo` sets this: it offers sign-ins without a password.
AGENTOPS_DEMO = env.flag("AGENTOPS_DEMO")

# The model
OPENAI_API_KEY = env.text("OPENAI_API_KEY")
OPENAI_BASE_URL = env.text("OPENAI_BASE_URL", "https://api.openai.com/v1")
OPENAI_MODEL = env.text("OPENAI_MODEL", "gpt-5-mini")
OPENAI_CHECK_MODEL = env.text("OPENAI_CHECK_MODEL", "gpt-5-nano")
# In the demo an answer takes a moment, so that people see a run go on.
AGENTOPS_DEMO_LATENCY_S = env.number(
    "AGENTOPS_DEMO_LATENCY_S", 0.3 if AGENTOPS_DEMO else 0.0
)
AGENTOPS_PROVIDER = env.text(
    "AGENTOPS_PROVIDER", "openai" if OPENAI_API_KEY else "demo"
)
