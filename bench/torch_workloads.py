"""The workloads of gradus-bench in PyTorch, as one would write them there: the same shapes, float32, the same number of parameters.

`prepare(name, mode)` gives (step, scale, parameters); mode is eager, fused (the optimizer's fused kernel) or compile (torch.compile and the fused kernel).
"""
import pathlib
import random

import torch
import torch.nn.functional as F
from torch import nn


def maybe_compiled(f, mode):
    return torch.compile(f) if mode == "compile" else f


def optimizer_for(kind, parameters, mode, **options):
    return kind(parameters, fused=True if mode != "eager" else None, **options)


def count(module):
    return sum(p.numel() for p in module.parameters())


def leaf(*shape):
    return torch.randn(*shape).requires_grad_(True)


def chain(elements, mode):
    a = leaf(elements)
    b = torch.empty(elements).uniform_(0.5, 0.9).requires_grad_(True)

    def loss(a, b):
        x = a
        for _ in range(1000):
            x = x * b + a
        return x.sum()

    loss = maybe_compiled(loss, mode)

    def step():
        a.grad = b.grad = None
        loss(a, b).backward()

    return step, 1, 0


def multi_head_attention(mode):
    layer = nn.MultiheadAttention(512, 8, batch_first=True)
    x = leaf(2, 10, 512)
    loss = maybe_compiled(lambda x: layer(x, x, x, need_weights=False)[0].sum(), mode)

    def step():
        layer.zero_grad()
        x.grad = None
        loss(x).backward()

    return step, 1, count(layer)


class Seq2Seq(nn.Module):
    def __init__(self, width, heads, layers, feedforward, vocabulary, length):
        super().__init__()
        self.source = nn.Embedding(vocabulary, width)
        self.target = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(length, width) / width**0.5)
        self.transformer = nn.Transformer(width, heads, layers, layers, feedforward, dropout=0.0, batch_first=True)
        self.output = nn.Linear(width, vocabulary)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(length), persistent=False)

    def forward(self, source, target):
        x = self.source(source) + self.positions
        y = self.target(target) + self.positions
        return self.output(self.transformer(x, y, tgt_mask=self.mask, tgt_is_causal=True))


def seq2seq(width, heads, layers, feedforward, vocabulary, batch, length, mode):
    model = Seq2Seq(width, heads, layers, feedforward, vocabulary, length)
    optimizer = optimizer_for(torch.optim.Adam, model.parameters(), mode, lr=1e-3)
    source, target, after = (torch.randint(0, vocabulary, (batch, length)) for _ in range(3))
    loss = maybe_compiled(lambda s, t, n: F.cross_entropy(model(s, t).view(-1, vocabulary), n.view(-1)), mode)

    def step():
        optimizer.zero_grad()
        loss(source, target, after).backward()
        optimizer.step()

    return step, 1, count(model)


class GPTBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.c_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.c_attn(self.ln_1(x)).split(c, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, layers, heads, width, context, vocabulary):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Parameter(torch.randn(context, width) * 0.02)
        self.h = nn.ModuleList(GPTBlock(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        nn.init.normal_(self.wte.weight, std=0.02)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), self.wte.weight)


def gpt(layers, heads, width, context, batch, vocabulary, mode):
    model = GPT(layers, heads, width, context, vocabulary)
    optimizer = optimizer_for(torch.optim.AdamW, model.parameters(), mode, lr=3e-4)
    text, after = (torch.randint(0, vocabulary, (batch, context)) for _ in range(2))
    loss = maybe_compiled(lambda x, n: F.cross_entropy(model(x).view(-1, vocabulary), n.view(-1)), mode)

    def step():
        optimizer.zero_grad()
        loss(text, after).backward()
        optimizer.step()

    return step, 1, count(model)


def with_cotangent(f, inputs, mode):
    f = maybe_compiled(f, mode)
    g = torch.randn_like(f(*inputs).detach())

    def step():
        for x in inputs:
            x.grad = None
        f(*inputs).backward(g)

    return step, 1, 0


def attention(length, mode):
    shape = (1, 8, length, 64)
    return with_cotangent(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), [leaf(*shape) for _ in range(3)], mode)


def cross_entropy(mode):
    logits, target = leaf(4096, 1024), torch.randint(0, 1024, (4096,))
    loss = maybe_compiled(lambda x: F.cross_entropy(x, target), mode)

    def step():
        logits.grad = None
        loss(logits).backward()

    return step, 1, 0


def rows(f, vectors, mode):
    return with_cotangent(f, [leaf(4096, 1024)] + [leaf(1024) for _ in range(vectors)], mode)


class MicroGPT(nn.Module):
    def __init__(self, width=16, context=16, vocabulary=27):
        super().__init__()
        def weight(*shape):
            return nn.Parameter(torch.randn(*shape) * 0.08)
        self.wte, self.wpe, self.head = weight(vocabulary, width), weight(context, width), weight(vocabulary, width)
        self.qkv, self.projection = weight(3 * width, width), weight(width, width)
        self.up, self.down = weight(4 * width, width), weight(width, 4 * width)

    def forward(self, tokens):
        def norm(x):
            return F.rms_norm(x, (16,), eps=1e-5)
        n = len(tokens)
        x = norm(self.wte[tokens] + self.wpe[:n])
        q, k, v = F.linear(norm(x), self.qkv).view(n, 3, 4, 4).permute(1, 2, 0, 3)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + F.linear(y.transpose(0, 1).reshape(n, 16), self.projection)
        x = x + F.linear(F.relu(F.linear(norm(x), self.up)), self.down)
        return F.linear(x, self.head)


def microgpt(mode, file=None):
    lines = pathlib.Path(file).read_text(encoding="utf-8").split() if file else ["a" * n for n in (4, 5, 6, 6, 7, 8)]
    random.Random(1).shuffle(lines)
    names = [torch.tensor([26] + [ord(c) - 97 for c in line[:15]] + [26]) for line in lines[:10000]]
    model = MicroGPT()
    optimizer = optimizer_for(torch.optim.Adam, model.parameters(), mode, lr=0.01, betas=(0.85, 0.99))
    t = 0

    def hundred_steps():
        nonlocal t
        for _ in range(100):
            tokens = names[t % len(names)]
            optimizer.param_groups[0]["lr"] = 0.01 * (1 - t % 10000 / 10000)
            optimizer.zero_grad()
            F.cross_entropy(model(tokens[:-1]), tokens[1:]).backward()
            optimizer.step()
            t += 1

    return hundred_steps, 100, count(model)


WORKLOADS = {
    "chain_scalar_1000": lambda m: chain(1, m),
    "chain_64_1000": lambda m: chain(64, m),
    "mha_seed": multi_head_attention,
    "seq2seq_copy": lambda m: seq2seq(64, 4, 2, 256, 32, 32, 12, m),
    "seq2seq_seed": lambda m: seq2seq(256, 8, 6, 1024, 1000, 16, 24, m),
    "gpt_nano": lambda m: gpt(4, 4, 128, 64, 12, 65, m),
    "gpt_char": lambda m: gpt(6, 6, 384, 256, 4, 65, m),
    "gpt2_124M": lambda m: gpt(12, 12, 768, 64, 4, 50257, m),
    "sdpa_1024": lambda m: attention(1024, m),
    "sdpa_4096": lambda m: attention(4096, m),
    "softmax_4096x1024": lambda m: rows(lambda x: F.softmax(x, -1), 0, m),
    "layer_norm_4096x1024": lambda m: rows(lambda x, w, b: F.layer_norm(x, (1024,), w, b), 2, m),
    "gelu_tanh_4096x1024": lambda m: rows(lambda x: F.gelu(x, approximate="tanh"), 0, m),
    "cross_entropy_4096x1024": cross_entropy,
    "add_broadcast_4096x1024": lambda m: rows(lambda x, b: x + b, 1, m),
    "exp_4096x1024": lambda m: rows(torch.exp, 0, m),
    "transpose_copy_4096x1024": lambda m: rows(lambda x: x.t().contiguous(), 0, m),
}


def prepare(name, mode, file=None):
    torch.manual_seed(0)
    return microgpt(mode, file) if name == "microgpt" else WORKLOADS[name](mode)
