"""`wirecall bench`: what the format costs and gains, measured. Needs the extra `wirecall[bench]`."""
