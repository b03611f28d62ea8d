"""Classes of transformers that xgrammar names, so that it can be imported without it."""


class LogitsProcessor:
    pass


class PreTrainedTokenizerBase:
    pass


class PreTrainedTokenizerFast:
    pass
