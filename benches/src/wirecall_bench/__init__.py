"""`wirecall bench`: what the format costs and gains, measured. An entry point adds it to `wirecall`."""
