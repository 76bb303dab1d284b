"""No form here takes a file, so one that brings a file is refused, not half taken.

A part that says it is a file is read past and never kept, in memory or on a disk, by
whoever it was sent; a body that is too long for a form is not even read.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest, HttpResponse

from agentops import again
from agentops.middleware import Answer


class ReadPast(FileUploadHandler):
    """The only one of FILE_UPLOAD_HANDLERS."""

    def handle_raw_input(
        self,
        input_data: Any,
        META: Any,  # noqa: N803 - as Django has it
        content_length: int,
        *_: Any,
        **options: Any,
    ) -> None:
        if content_length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise RequestDataTooBig("a form with files, longer than any form")

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        self.request.brought_a_file = True  # type: ignore[union-attr]
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Never called: each file is skipped at its begin."""

    def file_complete(self, file_size: int) -> None:
        """Never called either."""


class Refused:
    """Middleware: 413, and the form's words to be sent again without the file."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """After the check of CSRF, and after secrets were taken out of the words."""
        if request.method != "POST":
            return None
        bool(request.POST)  # read by now, unless the check of CSRF was left out
        is_one = getattr(request, "brought_a_file", False)
        return again.with_a_file(request) if is_one else None
