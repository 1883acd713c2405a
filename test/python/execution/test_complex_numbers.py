# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers and Fourier transforms, executed on the host and judged beside eager."""

import math

import pytest
import torch
from torch import nn

import fact
from fact import verify
from fact.export import export
from operators import Several


def run(module, inputs):
    """Compiles, which compares with fp64, and compares again what the caller gets."""
    compiled = fact.compile(module, inputs, target="host", candidates=1)
    with torch.no_grad():
        eager = module(*inputs)
    found = compiled(*inputs)
    pairs = list(zip(*((tree,) if isinstance(tree, torch.Tensor) else tree for tree in (found, eager))))
    for out, own in pairs:
        assert (out.dtype, out.shape) == (own.dtype, own.shape)
    if any(own.dtype.itemsize < 4 for _, own in pairs):
        return
    exact = verify.reference(module, inputs)
    for index, (found, truth) in enumerate(zip(pairs, [exact] if isinstance(exact, torch.Tensor) else exact)):
        distance = verify.compare(found[0], truth)
        assert distance.norm < 1e-6, f"result {index}: {distance}"


def numbers(*shape, seed=1, dtype=torch.complex64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def real(*shape, seed=1, dtype=torch.float32):
    return numbers(*shape, seed=seed, dtype=dtype)


ARITHMETIC = [
    lambda x, y, r: x * y - 2j * x + 1,
    lambda x, y, r: x / y,
    lambda x, y, r: 1 / x + x / (3 - 4j) + x / 2,
    lambda x, y, r: r * x + r - x,
    lambda x, y, r: torch.exp(x) + torch.exp(1j * r),
    lambda x, y, r: torch.log(x),
    lambda x, y, r: torch.sqrt(x),
    lambda x, y, r: torch.sin(x) * torch.cos(y),
    lambda x, y, r: x**2 + y**3,
    lambda x, y, r: torch.sgn(x),
    lambda x, y, r: x.abs() + torch.angle(y),
    lambda x, y, r: torch.polar(r.abs(), r),
    lambda x, y, r: torch.complex(r, x.imag),
    lambda x, y, r: x == x.conj(),
    lambda x, y, r: x * torch.arange(8),
    lambda x, y, r: torch.where(x.abs() > 1, x, 0),
    lambda x, y, r: r.to(torch.complex64) * y.resolve_conj(),
    lambda x, y, r: x.masked_fill(r > 0, 1 + 2j),
    # The imaginary part of what is real is 0.
    lambda x, y, r: torch.where(r > 0, x, r) + torch.where(r < 1, 5.0, y),
    lambda x, y, r: torch.cat([x, r, torch.arange(8)[None]]),
    lambda x, y, r: x.slice_scatter(r[:, :3], 1, 2, 5).index_put((torch.tensor([1]),), y[0]),
    lambda x, y, r: r * (x.abs() > 1) * y,
]
STRUCTURE = [
    lambda x, y: torch.cat([x, y.conj()], 0).sum(0),
    lambda x, y: torch.stack([x, y], 1)[:, :, ::2].flatten(1),
    lambda x, y: torch.view_as_real(x * y).flatten(-2),
    lambda x, y: x.mean(-1, keepdim=True) - x,
    lambda x, y: x.mH @ y + x.mT @ y,
    lambda x, y: torch.einsum("ij,kj->ik", x, y.real + 1j),
    lambda x, y: torch.linalg.vector_norm(x, dim=-1),
    lambda x, y: torch.vdot(x[0], y[0]),
    lambda x, y: torch.outer(x[0], y[1]),
    lambda x, y: x.prod(-1),
    lambda x, y: x.chunk(2, -1)[1] * y.unbind(0)[0][:4],
    lambda x, y: nn.functional.pad(x, (1, 2)).roll(1, -1).cumsum(-1),
    lambda x, y: torch.zeros(8, 8, dtype=torch.cfloat).slice_scatter(x, 0, 2, 6),
    lambda x, y: x.index_select(1, torch.tensor([3, 1])).tril(),
]
TRANSFORMS = [
    lambda x, z: torch.fft.fft(z),
    lambda x, z: torch.fft.ifft(z, n=20),
    lambda x, z: torch.fft.rfft(x, norm="ortho"),
    lambda x, z: torch.fft.rfft(x, n=9, dim=0),
    lambda x, z: torch.fft.irfft(z),
    lambda x, z: torch.fft.irfft(z, n=21, norm="forward"),
    lambda x, z: torch.fft.irfft(x),
    lambda x, z: torch.fft.fft2(z, norm="ortho"),
    lambda x, z: torch.fft.rfftn(x, dim=(1, 0)),
    lambda x, z: torch.fft.irfftn(z, dim=(1, 0)),
    lambda x, z: torch.fft.ifftn(z),
    lambda x, z: torch.fft.hfft(z),
    lambda x, z: torch.fft.ihfft(x),
    lambda x, z: torch.fft.fftshift(torch.fft.fft(x)).abs(),
    lambda x, z: torch.fft.fft(x, dim=0).real,
]


def test_arithmetic():
    run(Several(ARITHMETIC), (numbers(4, 8), numbers(4, 8, seed=2), real(4, 8)))


def test_structure():
    run(Several(STRUCTURE), (numbers(4, 8), numbers(4, 8, seed=2)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_transforms(dtype):
    run(Several(TRANSFORMS), (real(6, 11, dtype=dtype), numbers(6, 11, dtype=dtype.to_complex())))


@pytest.mark.parametrize("n", [1, 200, 400, 577, 4096])
def test_transforms_of_many_elements(n):
    """Of one product, of a prime number of elements, and of several factors."""
    run(Several([torch.fft.fft, lambda z: torch.fft.irfft(z[:, :n // 2 + 1], n=n),
                 lambda z: torch.fft.rfft(z.real)]), (numbers(2, n),))


def test_layouts():
    """Operands and results in another order of dimensions, and conjugated ones."""
    run(Several([lambda x, y: x.mT * y, lambda x, y: (x @ y).conj()]),
        (numbers(5, 4).t(), numbers(5, 4, seed=2).conj()))


def test_llama_rotary():
    class Rotary(nn.Module):
        """As in Llama's reference: factors are an attribute, no buffer."""

        def __init__(self, dim=16, end=32):
            super().__init__()
            frequencies = 1.0 / 10000 ** (torch.arange(0, dim, 2).float() / dim)
            angles = torch.outer(torch.arange(end), frequencies)
            self.factors = torch.polar(torch.ones_like(angles), angles)

        def turn(self, x):
            pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
            factors = self.factors[:x.shape[1]].view(1, x.shape[1], 1, -1)
            return torch.view_as_real(pairs * factors).flatten(3).type_as(x)

        def forward(self, q, k):
            return self.turn(q), self.turn(k)

    q, k = real(2, 8, 3, 16), real(2, 8, 3, 16, seed=2)
    run(Rotary(), (q, k))
    run(Rotary(), (q.bfloat16(), k.bfloat16()))


class FourierLayer(nn.Module):
    """Of a Fourier neural operator: complex weights, and slices that are assigned."""

    def __init__(self, channels=4, modes=3):
        super().__init__()
        self.modes = modes
        self.low = nn.Parameter(numbers(channels, channels, modes, modes) / channels)
        self.high = nn.Parameter(numbers(channels, channels, modes, modes, seed=2) / channels)

    def forward(self, x):
        m, spectrum = self.modes, torch.fft.rfft2(x)
        result = torch.zeros_like(spectrum)
        result[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :m, :m], self.low)
        result[:, :, -m:, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, -m:, :m], self.high)
        return torch.fft.irfft2(result, s=x.shape[-2:])


def test_complex_weights(tmp_path):
    layer, x = FourierLayer(), real(2, 4, 16, 15)
    run(layer, (x,))
    # Another module's weights, as complex tensors.
    compiled = fact.compile(layer, (x,), target="host", candidates=1, output=tmp_path / "layer.so")
    other = FourierLayer()
    with torch.no_grad():
        other.low.mul_(2j)
    again = fact.load(tmp_path / "layer.so").create(other)(x)
    assert verify.compare(again, other(x).detach()).norm < 1e-6
    assert verify.compare(again, compiled(x)).norm > 0.1
    assert torch.equal(compiled.state()["low"], layer.low)


@pytest.mark.parametrize("persistent", [False, True])
def test_complex_buffers(persistent):
    class Filter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("response", numbers(16), persistent=persistent)

        def forward(self, x):
            return torch.fft.ifft(torch.fft.fft(x) * self.response).real

    run(Filter(), (real(3, 16),))


def test_spectrograms():
    window = torch.hann_window(64)

    class Spectrogram(nn.Module):
        def forward(self, x):
            spectrum = torch.stft(x, 64, 16, window=window, return_complex=True)
            return (spectrum.abs() ** 2, torch.istft(spectrum, 64, 16, window=window),
                    torch.istft(spectrum, 64, 16, window=window, length=480))

    run(Spectrogram(), (real(2, 512),))


def test_long_convolution():
    class Convolution(nn.Module):
        """As in S4D: a kernel of exponentials, applied by transforms of twice the length."""

        def __init__(self, channels=4, states=8):
            super().__init__()
            self.c = nn.Parameter(torch.view_as_real(numbers(channels, states)))
            self.a, self.b = (nn.Parameter(real(channels, states, seed=s)) for s in (2, 3))
            self.step = nn.Parameter(real(channels, 1, seed=4))

        def forward(self, u):
            length = u.shape[-1]
            a = -torch.exp(self.a) + 1j * self.b
            steps = a * torch.exp(self.step)
            c = torch.view_as_complex(self.c) * (torch.exp(steps) - 1.0) / a
            kernel = 2 * torch.einsum("hn,hnl->hl", c,
                                      torch.exp(steps[..., None] * torch.arange(length))).real
            spectrum = torch.fft.rfft(u, n=2 * length) * torch.fft.rfft(kernel, n=2 * length)
            return torch.fft.irfft(spectrum, n=2 * length)[..., :length]

    run(Convolution(), (real(2, 4, 32),))


def test_compiled_by_dynamo():
    z = numbers(3, 16)
    found = torch.compile(lambda z: torch.fft.fft(z).abs() * z, backend="fact")(z)
    assert verify.compare(found, torch.fft.fft(z).abs() * z).norm < 1e-6


def test_transforms_are_strict(monkeypatch):
    """PyTorch's own transforms of fp32 are never TF32."""
    monkeypatch.setattr("fact.precision.of_products", lambda: "high")
    text = export(Several([lambda x: torch.fft.fft(x).abs(), lambda x: x @ x]), (real(8, 8),)).text
    assert text.count("torch.fact.strict_matmul") == 1 and text.count("torch.aten.matmul") == 1


def test_errors():
    def words(function, *inputs):
        with pytest.raises(fact.FactError) as caught:
            export(Several([function]), inputs)
        return str(caught.value)

    z = numbers(4, 4)
    found = words(torch.tanh, z)
    assert "'aten.tanh.default' (" in found and "operators.py" in found
    assert "not supported on complex numbers: compute with real and imaginary parts" in found
    assert "torch.complex32" in words(lambda x: x * 2, z.to(torch.complex32))

    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("state", numbers(4))

        def forward(self, x):
            self.state.add_(x)
            return self.state * math.pi

    with pytest.raises(fact.FactError, match="forward changes 'state', which is complex"):
        export(Counter(), (numbers(4),))
    compiled = fact.compile(Several([lambda x: x * 2j]), (z,), target="host", candidates=1)
    with pytest.raises(fact.FactError, match=r"has type torch.float32; expected torch.complex64"):
        compiled(z.real)
