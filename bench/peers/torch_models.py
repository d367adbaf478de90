#!/usr/bin/env python3
"""PyTorch on the shapes of `tenon random-model`: decode and prefill of one sequence.

Plain PyTorch as one writes it for speed: fused QKV and gate/up weights, a static KV cache,
scaled_dot_product_attention, the position in device memory. Measured are, per step:
  eager         launched operation by operation
  graph         the same, replayed as one CUDA graph
  compile       torch.compile(mode="max-autotune-no-cudagraphs"), replayed as one CUDA graph (the mode
                that makes graphs by itself refuses the caches, which are written in place)
Weights are random. Decode runs at one position, as `tenon bench --position` does; caches hold
random values. Times are of CUDA events around each step; the device's own time for `eager` is
bounded by how fast the host launches.
With --tokens, the compiled step also generates that many tokens from the position on, as `tenon
bench --generate` does: argmax in the graph, its token fed to the next step in device memory, two
replays ahead of the host; times are the host's, from one token's arrival to the next.
Prints a JSON object a shape.

Usage: torch_models.py [--position=512] [--prefill=512] [--steps=100] [--tokens=200] [--no-compile]
                       SHAPE...
"""
import argparse
import collections
import json
import statistics
import time

import torch
import torch.nn.functional as F

SHAPES = {
    "llama-3.2-1b": dict(llama=True, layers=16, hidden=2048, ffn=8192, heads=32, kv_heads=8,
                         vocabulary=128256, rotary=64, base=500000.0, dtype=torch.bfloat16),
    "llama-3.1-8b": dict(llama=True, layers=32, hidden=4096, ffn=14336, heads=32, kv_heads=8,
                         vocabulary=128256, rotary=128, base=500000.0, dtype=torch.bfloat16),
    "pythia-2.8b": dict(llama=False, layers=32, hidden=2560, ffn=10240, heads=32, kv_heads=32,
                        vocabulary=50304, rotary=20, base=10000.0, dtype=torch.float16),
}


class Model:
    """The weights, caches and forward pass of a shape."""

    def __init__(self, shape, capacity):
        self.shape = shape
        self.head = shape["hidden"] // shape["heads"]
        qkv = self.head * (shape["heads"] + 2 * shape["kv_heads"])
        hidden, ffn = shape["hidden"], shape["ffn"]
        up = 2 * ffn if shape["llama"] else ffn
        self.embedding = self.matrix(shape["vocabulary"], hidden)
        self.output = self.embedding if shape["layers"] == 16 else self.matrix(
            shape["vocabulary"], hidden)
        self.norm = [self.vector(hidden) for _ in range(2)]
        self.layers = [
            dict(norm1=[self.vector(hidden) for _ in range(2)],
                 norm2=[self.vector(hidden) for _ in range(2)],
                 qkv=self.linear(qkv, hidden), out=self.linear(hidden, hidden),
                 up=self.linear(up, hidden), down=self.linear(hidden, ffn),
                 k=self.cache(capacity), v=self.cache(capacity))
            for _ in range(shape["layers"])]
        frequencies = shape["base"] ** (
            -torch.arange(0, shape["rotary"], 2, device="cuda").float() / shape["rotary"])
        angles = torch.outer(torch.arange(capacity, device="cuda").float(), frequencies)
        angles = torch.cat((angles, angles), -1)
        self.cos, self.sin = angles.cos().to(shape["dtype"]), angles.sin().to(shape["dtype"])
        self.keys = torch.arange(capacity, device="cuda")

    def matrix(self, rows, columns):
        return torch.randn(rows, columns, device="cuda", dtype=self.shape["dtype"]) / columns**0.5

    def vector(self, length):
        return torch.rand(length, device="cuda", dtype=self.shape["dtype"])

    def linear(self, rows, columns):
        """A weight, and a bias where the family has them."""
        return self.matrix(rows, columns), None if self.shape["llama"] else self.vector(rows)

    def cache(self, capacity):
        return torch.randn(1, self.shape["kv_heads"], capacity, self.head, device="cuda",
                           dtype=self.shape["dtype"])

    def normalise(self, x, norm):
        if self.shape["llama"]:
            return F.rms_norm(x, x.shape[-1:], norm[0], 1e-5)
        return F.layer_norm(x, x.shape[-1:], norm[0], norm[1], 1e-5)

    def rotate(self, x, positions):
        """x [tokens, heads, head]; the first `rotary` elements of each head turn."""
        n = self.shape["rotary"]
        part, rest = x[..., :n], x[..., n:]
        first, second = part.chunk(2, -1)
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        return torch.cat((part * cos + torch.cat((-second, first), -1) * sin, rest), -1)

    def attend(self, x, layer, positions, mask):
        s, tokens = self.shape, x.shape[0]
        qkv = F.linear(x, *layer["qkv"]).view(tokens, -1, self.head)
        q, k, v = qkv.split((s["heads"], s["kv_heads"], s["kv_heads"]), 1)
        q, k = self.rotate(q, positions), self.rotate(k, positions)
        layer["k"].index_copy_(2, positions, k.transpose(0, 1)[None])
        layer["v"].index_copy_(2, positions, v.transpose(0, 1)[None])
        if mask is None:  # prefill from position 0: the new keys are all there is
            keys, values = k.transpose(0, 1)[None], v.transpose(0, 1)[None]
        else:
            keys, values = layer["k"], layer["v"]
        y = F.scaled_dot_product_attention(q.transpose(0, 1)[None], keys, values, attn_mask=mask,
                                           is_causal=mask is None,
                                           enable_gqa=s["heads"] != s["kv_heads"])
        return F.linear(y[0].transpose(0, 1).reshape(tokens, -1), *layer["out"])

    def mlp(self, x, layer):
        y = F.linear(x, *layer["up"])
        if self.shape["llama"]:
            gate, up = y.chunk(2, -1)
            y = F.silu(gate) * up
        else:
            y = F.gelu(y)
        return F.linear(y, *layer["down"])

    def forward(self, ids, positions, is_prefill):
        """Logits behind the last token."""
        x = F.embedding(ids, self.embedding)
        mask = None if is_prefill else (self.keys <= positions[:, None])[None, None]
        for layer in self.layers:
            attended = self.attend(self.normalise(x, layer["norm1"]), layer, positions, mask)
            if self.shape["llama"]:
                x = x + attended
                x = x + self.mlp(self.normalise(x, layer["norm2"]), layer)
            else:
                x = self.mlp(self.normalise(x, layer["norm2"]), layer) + attended + x
        return F.linear(self.normalise(x[-1:], self.norm), self.output)


def measure(step, steps, warmup=10):
    """The distribution of a step's time in ms, between CUDA events."""
    for _ in range(warmup):
        step()
    times = []
    for _ in range(steps):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        step()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return distribution(times)


def distribution(times):
    times.sort()
    return dict(min=times[0], median=statistics.median(times), p99=times[len(times) * 99 // 100],
                max=times[-1])


def capture(step):
    """The step as a CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def generate(forward, ids, positions, tokens, warmup=8, ahead=2):
    """The distribution of the time from token to token in ms, as the host sees them arrive."""
    def step():
        ids.copy_(forward(ids, positions, False).argmax(-1))
        positions.add_(1)

    first = positions.clone()
    replay = capture(step)
    positions.copy_(first)
    slots = torch.empty(ahead + 1, dtype=ids.dtype, pin_memory=True)
    pending, times, before = collections.deque(), [], time.perf_counter()
    for token in range(warmup + tokens + ahead):
        if token < warmup + tokens:
            replay()
            slots[token % len(slots)].copy_(ids[0], non_blocking=True)
            pending.append(torch.cuda.Event())
            pending[-1].record()
        if token >= ahead:
            pending.popleft().synchronize()
            now = time.perf_counter()
            times.append((now - before) * 1e3)
            before = now
    return distribution(times[warmup:])


@torch.inference_mode()
def run(name, options):
    """All measurements of a shape."""
    model = Model(SHAPES[name], options.position + options.tokens + 128)
    result = dict(model=name, dtype=str(SHAPES[name]["dtype"]), torch=torch.__version__,
                  position=options.position, prefill=options.prefill)
    cases = {"decode": (1, options.position, False)}
    if options.prefill:
        cases["prefill"] = (options.prefill, 0, True)
    for case, (tokens, first, is_prefill) in cases.items():
        ids = torch.randint(SHAPES[name]["vocabulary"], (tokens,), device="cuda")
        positions = torch.arange(first, first + tokens, device="cuda")
        step = lambda: model.forward(ids, positions, is_prefill)
        result[case + "_eager_ms"] = measure(step, options.steps)
        result[case + "_graph_ms"] = measure(capture(step), options.steps)
        if not options.no_compile:
            compiled = torch.compile(model.forward, mode="max-autotune-no-cudagraphs",
                                     fullgraph=True)
            result[case + "_compile_ms"] = measure(
                capture(lambda: compiled(ids, positions, is_prefill)), options.steps)
            if options.tokens and not is_prefill:
                result["token_compile_ms"] = generate(compiled, ids, positions, options.tokens)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--position", type=int, default=512)
    parser.add_argument("--prefill", type=int, default=512)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=0)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("shapes", nargs="+", choices=SHAPES)
    options = parser.parse_args()
    for name in options.shapes:
        print(json.dumps(run(name, options)), flush=True)
        torch.cuda.empty_cache()
        torch._dynamo.reset()


main()
