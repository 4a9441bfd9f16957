"""What goes wrong between a connector over HTTP and its provider, as errors that say what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from ssl import SSLCertVerificationError
from typing import TYPE_CHECKING, Any

from runner.connectors.base import ConnectorError
from runner.connectors.http import BadProtocol, CannotConnect, ConnectionLost, HttpTimeout, LocalLimit

if TYPE_CHECKING:
    from runner.connectors.base import Completion
    from runner.connectors.definition import Definition
    from runner.connectors.http import HttpError

_SHORT = 300
"""Characters that an error quotes of what a provider says."""


BROKEN_OFF = 502
"""The status of an answer that broke off inside, where the host names none."""
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Type or code of an error inside an answer → the status that goes with it: docs.anthropic.com/en/api/errors,
platform.openai.com/docs/guides/error-codes."""


UNPAID = 402
"""The status of an account without credit, which OpenAI calls 429, and Anthropic 400."""
NO_CREDIT = ("insufficient_quota", "credit balance is too low")
"""What they say then."""


class ProviderError(Exception):
    """An error that a provider reports inside an answer."""

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


def reported(error: Any, otherwise: int | None = None) -> ProviderError:
    """What a host reports, `{message?, type?, code?, status?}` or a text, with the status that it names, else
    `otherwise`."""
    if not isinstance(error, dict):
        return ProviderError(str(error), otherwise)
    said = [str(error.get(name)) for name in ("status", "code", "type")]
    codes = (int(code) if code.isdecimal() else _STATUSES.get(code) for code in said)
    status = next((code for code in codes if code), otherwise)
    return ProviderError(str(error.get("message") or error.get("type") or error), status)


class Faults:
    """The errors of one connector."""

    def __init__(self, definition: Definition, host: str) -> None:
        """`host` is the one that it asks."""
        self._definition = definition
        self._subject = f"{definition.id} ({host})"
        self._is_an_api = f"Check options.host in {definition.where}: it must be the URL of an API"

    def final(self, message: str, hint: str | None = None) -> ConnectorError:
        """An error that trying again would not help."""
        return ConnectorError(f"{self._subject}: {message}", hint=hint)

    def silent(self) -> ConnectorError:
        """No answer began before the case ran out of time."""
        return ConnectorError(f"{self._subject} sent nothing until the case timed out")

    def mute(self, completion: Completion) -> ConnectorError:
        """An answer without a message."""
        hint = self._is_an_api
        match completion.ending:
            case "length":
                hint = "It reached its token limit before writing any text: raise max_tokens"
            case "content_filter" | "refusal":
                hint = "The provider withheld the response: its content filter rejected the request or the response"
        text = f"{self._subject} returned an empty message: no content, no refusal and no tool call"
        error = ConnectorError(f"{text} (finish_reason {completion.finish_reason})", hint=hint)
        error.answer = completion
        return error

    def no_json(self, text: str) -> ConnectorError:
        """An answer that is not JSON."""
        return ConnectorError(f"{self._subject} returned invalid JSON: {self._quoted(text)}", hint=self._is_an_api)

    def unreadable(self, what: str, text: str) -> ConnectorError:
        """An answer that is JSON, but not as it should be; `what` says how it is."""
        return ConnectorError(f"{self._subject} answered {what}: {self._quoted(text)}")

    def answered(self, status: int | None, said: str, what: str) -> ConnectorError:
        """An answer that is an error; `what` says how it came, and `said` what the provider says."""
        retryable = status is not None and (status in (408, 429) or status >= 500)
        text = f"{self._subject} {what}" + (f": {self._quoted(said)}" if said else "")
        return ConnectorError(text, status, retryable, self._advice(status))

    def failed(self, error: HttpError) -> ConnectorError:
        """A request that could not be sent, or whose answer did not arrive."""
        retryable = isinstance(error, CannotConnect | ConnectionLost | HttpTimeout | LocalLimit) and not error.lasting
        hint, definition = None, self._definition
        match error:
            case CannotConnect(__cause__=SSLCertVerificationError()):
                hint = "Use the name in its certificate, or name the authority that issued it with SSL_CERT_FILE"
            case CannotConnect():
                hint = f"Check options.host in {definition.where}, the proxy variables, and that the server is running"
            case LocalLimit():
                hint = "Use a smaller --parallel, or allow more open files (ulimit -n)"
            case BadProtocol():
                hint = self._is_an_api
        failed = ConnectorError(f"{definition.id}: {definition.redact(str(error))}", None, retryable, hint)
        failed.unreached = isinstance(error, CannotConnect)
        return failed

    def _advice(self, status: int | None) -> str | None:
        where, options = self._definition.where, self._definition.options
        match status:
            case 401 | 403:
                if name := self._definition.sources.get("key"):
                    return f"Check the environment variable {name}, which options.key in {where} names"
                return f"Check options.key in {where}" if options.get("key") else f"Add options.key to {where}"
            case 301 | 302 | 303 | 307 | 308:
                to = "The server redirects to another URL, which is not followed"
                return f"{to}: set options.host to it in {where}"
            case 402:
                return "The account has no credit left: see its billing page"
            case 404:
                return f"Check options.model and options.host in {where}"
            case 429:
                return f"Use a smaller --parallel, or set options.requests_per_minute in {where}"
        return None

    def _quoted(self, text: str) -> str:
        text = " ".join(self._definition.redact(text)[: 8 * _SHORT].split())
        return text if len(text) <= _SHORT else f"{text[:_SHORT]}..."


def message_in(text: str) -> str:
    """The message in the body of an error, in any of the usual forms; empty for an HTML page."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return "" if text.lstrip().startswith("<") else text
    value = value[0] if isinstance(value, list) and len(value) == 1 else value  # as Gemini's hosts do
    for _ in range(3):
        if not isinstance(value, Mapping):
            break
        found = (value.get(key) for key in ("error", "message", "error_description", "detail"))
        value = next((item for item in found if item), "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
