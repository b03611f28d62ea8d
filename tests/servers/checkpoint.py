"""A checkpoint for tests: its configuration, a tokenizer of bytes, and no weights. And a tool."""

import json
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
    "{% if tools %}{{ tools|tojson }}{% endif %}<|im_start|>assistant\n"
    "{% if enable_thinking %}<think>\n{% endif %}"
)

WRITE_FILE = {
    "type": "function",
    "function": {
        "name": "write_file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    },
}


def byte_tokenizer() -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(alphabet)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    return made


def save_checkpoint(folder: Path, template: str = TEMPLATE) -> PreTrainedTokenizerFast:
    """A checkpoint of two layers: its configuration, and a tokenizer of bytes."""
    made = byte_tokenizer()
    special = ("<|im_start|>", "<|im_end|>")
    made.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in special])
    plain = ("<think>", "</think>", "<tool_call>", "</tool_call>")
    made.add_tokens([AddedToken(token, normalized=False, special=False) for token in plain])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", clean_up_tokenization_spaces=False
    )
    tokenizer.chat_template = template
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 64,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "num_hidden_layers": 2,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 1_000_000,
        "rms_norm_eps": 1e-5,
        "torch_dtype": "bfloat16",
        "tie_word_embeddings": True,
        "eos_token_id": tokenizer.eos_token_id,
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return tokenizer
