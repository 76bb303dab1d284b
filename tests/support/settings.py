"""The product's settings, made quick and quiet for tests."""

from __future__ import annotations

import os
import re

# What somebody's own environment says must not reach a test.
for _name in list(os.environ):
    if re.match(r"(AGENTOPS|OPENAI|EMAIL|SECURE)_(?!TEST_)|DEBUG$", _name):
        del os.environ[_name]
os.environ["SECRET_KEY"] = "only-for-tests"
# What is approved happens at once; the tests of the window set it.
os.environ["AGENTOPS_UNDO_IRREVERSIBLE_S"] = "0"

from agentops.settings import *  # noqa: F403
from agentops.settings import database
from tests.support.databases import ENVIRONMENT, NONE, test_names

DEBUG = False
ALLOWED_HOSTS = ["*"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
EMAIL_FILE_PATH = None
STATIC_ROOT = None
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True

_url = os.environ.get(ENVIRONMENT) or NONE
DATABASES = {"default": database(_url) | {"TEST": test_names(_url)}}
