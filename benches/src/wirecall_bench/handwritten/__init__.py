"""The parser and the encoder that one would write instead of wirecall: plain Python, as fast as can be."""
