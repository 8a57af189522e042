"""One file per input or output format. A format reads what stands there, or says everything that is wrong with it."""
