"""The prompt of models without tools: `--tokenizer-mode wirecall` puts the manual and past calls into it."""

import dataclasses
from typing import Any

from vllm.renderers.hf import HfRenderer

from wirecall._clients.hooks import compact_tools
from wirecall._serving.choice import Model, choose_format
from wirecall._serving.settings import read_settings
from wirecall.integrations._vllm import server


class WirecallRenderer(HfRenderer):
    """Rewrites messages and tools before the chat template sees them."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        server.taught = choose_format(Model(), setting=read_settings().format, prompted=True).format
        self._hooks = compact_tools(protocol=server.taught, invalid_tools="untyped")

    def render_messages(self, messages: Any, params: Any) -> Any:
        return super().render_messages(*self._rewritten(messages, params))

    async def render_messages_async(self, messages: Any, params: Any) -> Any:
        return await super().render_messages_async(*self._rewritten(messages, params))

    def _rewritten(self, messages: Any, params: Any) -> tuple[Any, Any]:
        variables = dict(params.chat_template_kwargs)
        tools = variables.pop("tools", None)
        request = {"messages": list(messages)}
        if tools:
            request["tools"] = list(tools)
        sent = self._hooks.transform_params(request).params
        return sent["messages"], dataclasses.replace(params, chat_template_kwargs=variables)
