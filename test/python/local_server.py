# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Serves a GGUF model on loopback as an OpenAI-compatible endpoint.

    python local_server.py MODEL.gguf CONTEXT

Prints its address once it listens on a port of its own, and ends with its standard input.
"""

import sys

import xllamacpp


def main(model, context):
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.port = 0
    parameters.n_ctx = int(context)
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 2
    server = xllamacpp.Server(parameters)
    print("listening on", server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
