#!/usr/bin/env python3
"""Run llama.cpp's HTTP server out of the xllamacpp wheel until standard input ends.

Prints `listening on http://127.0.0.1:PORT` once it answers, so that a test can start it on port 0.
"""
import argparse
import socket
import sys

import xllamacpp as x

parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True)
parser.add_argument("--alias", required=True)
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--parallel", type=int, default=4)
parser.add_argument("--context", type=int, default=8192)
parser.add_argument("--threads", type=int, default=1)
arguments = parser.parse_args()

port = arguments.port
if port == 0:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

params = x.CommonParams()
params.model.path = arguments.model
params.model_alias = {arguments.alias}
params.hostnames = ["127.0.0.1"]
params.port = port
params.n_parallel = arguments.parallel
params.n_ctx = arguments.context
params.cpuparams.n_threads = arguments.threads
params.endpoint_metrics = True
params.endpoint_slots = True
params.endpoint_props = True
params.ui = False

server = x.Server(params)
print(f"listening on http://127.0.0.1:{port}", flush=True)
while sys.stdin.buffer.read(4096):
    pass
