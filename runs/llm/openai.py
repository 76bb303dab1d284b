"""The model client for any OpenAI-compatible endpoint, through the openai SDK.

The only module that imports the SDK. It sends our own JSON with the SDK's `post()`
(its typed `create()` walks every message in Python), keeps a total
deadline, makes one request per call, and lets nothing but `runs.errors` out: the
SDK's exceptions do not survive pickling and carry the provider's text verbatim.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import httpx2

from runs.canonical import Json
from runs.classify import classify, told
from runs.errors import Fatal, StepError
from runs.llm import failures, reply
from runs.llm.base import Reply, Request
from runs.llm.transport import CONNECT_S, ThreadTransport, deadline

NO_KEY = "none"
"""Servers without keys ignore it; the SDK refuses to start without any."""


def load() -> ModuleType:
    """The SDK. It takes as long to load as the rest of the product, and 13 MB, which
    only those processes pay that ask a model.
    """
    import openai  # noqa: TID251 -- this module is the door

    return openai


_json = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False
).encode


class OpenAIClient:
    """One endpoint; used from many threads at once, one per process.

    `transport` replaces the network. `limit_field` is the name under which
    `max_output_tokens` is sent, `schemas` is False for servers that refuse
    `response_format`. `echo` names fields of replies that it wants to see again.
    Errors never show `api_key`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        transport: httpx2.BaseTransport | None = None,
        label: str = "",
        *,
        limit_field: str = "max_completion_tokens",
        schemas: bool = True,
        echo: Iterable[str] = (),
    ) -> None:
        self._host = httpx2.URL(base_url).host or base_url
        self.label = label or self._host
        self._limit_field = limit_field
        self._schemas = schemas
        self._echo = tuple(echo)
        self._secrets = (api_key,) if api_key else ()
        http = httpx2.Client(
            transport=transport or ThreadTransport(),
            follow_redirects=True,
            headers={"Accept-Encoding": "gzip"},
            trust_env=True,
        )
        self._openai: Any = load()
        self._sdk = self._openai.OpenAI(
            base_url=base_url,
            api_key=api_key or NO_KEY,
            max_retries=0,
            http_client=http,
        )

    def complete(self, request: Request) -> Reply:
        """Make the call; see `ModelClient`."""
        answer = self._post(request)
        if isinstance(answer, StepError):
            raise answer
        return reply.parse(answer, self._secrets, self._echo)

    def close(self) -> None:
        """Close the connections of all threads."""
        self._sdk.close()

    def body(self, request: Request) -> bytes:
        """What is sent: only the fields that are set, messages as they are.

        Raises ValueError or TypeError for what JSON cannot say.
        """
        body: dict[str, Json] = {
            "model": request.model,
            self._limit_field: request.max_output_tokens,
        }
        if request.tools:
            body["tools"] = list(request.tools)
        if request.schema is not None and self._schemas:
            schema = {"strict": True, **request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.encoded:
            messages = f"[{','.join(request.encoded)}]"
        else:
            messages = _json(list(request.messages))
        return f'{_json(body)[:-1]},"messages":{messages}}}'.encode()

    def _post(self, request: Request) -> bytes | StepError:
        """The body of a 200, or the error: returned, so that its own traceback
        begins outside of the SDK and drags no request and no key along."""
        seconds = request.deadline_s
        waits = httpx2.Timeout(seconds, connect=min(seconds, CONNECT_S))
        try:
            with deadline(seconds):
                response = self._sdk.post(
                    "/chat/completions",
                    content=self.body(request),
                    cast_to=httpx2.Response,
                    options={"timeout": waits},
                )
            content: bytes = response.content
            return content
        except self._openai.APIStatusError as error:
            return self._refusal(error.response)
        except self._openai.APIConnectionError as error:
            cause = error.__cause__ or error
            return failures.from_network(cause, self._host, seconds, self._secrets)
        except StepError as error:
            return error
        except Exception as error:  # noqa: BLE001 -- a contract: no other gets out
            return self._unsendable(error)

    def _refusal(self, response: httpx2.Response) -> StepError:
        payload: Any = response.content.decode("utf-8", "replace")
        with contextlib.suppress(ValueError, RecursionError):
            payload = json.loads(payload)
        status, headers = response.status_code, response.headers
        return failures.from_status(status, headers, payload, self._secrets)

    def _unsendable(self, error: Exception) -> StepError:
        text = told(classify(error).message, self._secrets)
        return Fatal(told(f"The request could not be sent: {text}"))
