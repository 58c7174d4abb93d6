"""Asking a model: one endpoint, a budget, and a record of every answer so that a run can be resumed and replayed.

The key to a paid endpoint stays in this process. What is asked and answered passes through `Chat.ask` alone, whether
the bench asks or, through a relay, a memory under test.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

from brainbench.chat.budget import Budget
from brainbench.chat.endpoint import Endpoint
from brainbench.chat.records import Answer, Records, request_hash
from brainbench.chat.replies import Reply, ToolCall, read_reply
from brainbench.errors import CallFailed, EndpointError, OverBudget

__all__ = ["Answer", "Budget", "Chat", "Endpoint", "Records", "Reply", "Spent", "ToolCall"]


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run asked and what that cost: `new` calls went to the endpoint, the others came from records."""

    calls: int = 0
    new: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    usd_new: float = 0.0


class Chat:
    """One model. Answers that were recorded are given again; others are asked of `endpoint`, within `budget`.

    Without an endpoint only records answer. Safe to use from several threads.
    """

    def __init__(
        self, model: str, *, records: Records | None = None, endpoint: Endpoint | None = None, budget: Budget
    ) -> None:
        self.model = model
        self.budget = budget
        self.spent = Spent()
        self.exhausted: OverBudget | None = None
        self.refused: EndpointError | None = None
        self._records, self._endpoint = records, endpoint
        self._lock = threading.Lock()

    @property
    def host(self) -> str:
        """The host that answers, or that answered when the records were made."""
        if self._endpoint is not None:
            return self._endpoint.host
        return self._records.host if self._records is not None else ""

    @property
    def recorded(self) -> bool:
        """Whether records alone answer."""
        return self._endpoint is None

    def ask(self, body: Mapping[str, object], about: str) -> Reply:
        """The answer to a chat completion request; `about` says what it is for, in errors.

        CallFailed when this question got no usable answer, EndpointError when no question will get one, OverBudget
        before a question that the budget does not cover.
        """
        with self._lock:
            answer = self._recorded(body, about) or self._asked(body)
        if answer.failed is not None:
            raise CallFailed(answer.failed)
        return read_reply(answer, self.budget.price)

    def _recorded(self, body: Mapping[str, object], about: str) -> Answer | None:
        found = self._records.find(request_hash(body)) if self._records is not None else None
        if found is not None and (found.failed is None or self.recorded):
            self._count(found, new=False)
            return found
        if self.recorded:
            where = self._records.directory if self._records is not None else "the records"
            self.refused = EndpointError(
                f"no answer is recorded in {where} for {about} (request {request_hash(body)[:12]}): the corpus, the "
                "memory, the prompt or the seed is not that of the recording. Record anew: --endpoint URL --record DIR"
            )
            raise self.refused
        return None

    def _asked(self, body: Mapping[str, object]) -> Answer:
        assert self._endpoint is not None  # noqa: S101
        try:
            answer = self._endpoint.complete(body, self.budget)
        except OverBudget as error:
            self.exhausted = error
            raise
        except CallFailed as error:
            answer = Answer(request_hash(body), failed=str(error))
        except EndpointError as error:
            self.refused = error
            raise
        if self._records is not None:
            self._records.add(answer)
        self._count(answer, new=True)
        return answer

    def _count(self, answer: Answer, *, new: bool) -> None:
        sent, got = answer.tokens
        usd = self.budget.price.of(sent, got)
        self.spent = replace(
            self.spent,
            calls=self.spent.calls + 1,
            new=self.spent.new + new,
            input_tokens=self.spent.input_tokens + sent,
            output_tokens=self.spent.output_tokens + got,
            usd=self.spent.usd + usd,
            usd_new=self.budget.spent,
        )
