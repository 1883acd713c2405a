# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the exported text has, and the traps on the way to it."""

import inspect
import re
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import fact
import fact.toolchain
from fact import narrow_integers
from fact.element_types import as_seen, as_stored
from fact.export import _export_program, _supported_ops
from fact.workload import load_workload

pytest.importorskip("torch_mlir")

WORKLOADS = ["gemm_batched", "gemm_large_k", "gemm_square", "linear_chain", "llama3_block",
             "mini_gpt_block", "pooled_head", "biased_attention"]


def ops(text):
    return re.findall(r"torch\.(aten\.\w+)", text)


def weight_ops(text):
    return re.findall(r'"torch\.fact\.weight"\(\) (\{.*?\}) : \(\) -> (\S+)', text)


def line_of(function, fragment):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if fragment in line)


@pytest.mark.parametrize("name", WORKLOADS)
def test_workloads(root, name):
    w = load_workload(str(root / "examples" / "workloads" / f"{name}.py"), size="small")
    graph = fact.export(w.module, w.inputs, name=w.name)
    assert f"module @{name} " in graph.text
    assert "func.func @main" in graph.text
    assert len(graph.inputs) == len(w.inputs) and len(graph.outputs) == 1
    assert graph.weights.keys() == dict(w.module.state_dict()).keys()


def test_ops_stay_whole(root):
    w = load_workload(str(root / "examples" / "workloads" / "llama3_block.py"), size="small")
    found = ops(fact.export(w.module, w.inputs).text)
    assert found.count("aten.linear") == 7
    assert "aten.scaled_dot_product_attention" in found
    w = load_workload(str(root / "examples" / "workloads" / "mini_gpt_block.py"), size="small")
    found = ops(fact.export(w.module, w.inputs).text)
    assert found.count("aten.layer_norm") == 2 and found.count("aten.gelu") == 1


def test_weights_have_names_and_no_data():
    text = fact.export(nn.Linear(8, 4).bfloat16(), (torch.randn(2, 8).bfloat16(),)).text
    assert weight_ops(text) == [
        ('{name = "weight"}', "!torch.vtensor<[4,8],bf16>"),
        ('{name = "bias"}', "!torch.vtensor<[4],bf16>"),
    ]


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8, bias=False)
        self.second = nn.Linear(8, 8, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x))


def test_tied_weights_share_the_first_name():
    graph = fact.export(Tied(), (torch.randn(2, 8),))
    assert list(graph.weights) == ["first.weight"]
    assert len(weight_ops(graph.text)) == 1


def test_weights_in_lists():
    class Lists(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.other = nn.Parameter(torch.ones(1, 4)), nn.Parameter(torch.ones(2, 4))
            self.register_buffer("rows", torch.tensor([2, 0]))

        def forward(self, x):
            joined = torch.cat([self.token, x, self.token])
            return joined, torch.cat([self.token, self.other]), x[:, self.rows]

    graph = fact.export(Lists(), (torch.randn(3, 4),))
    assert list(graph.weights) == ["token", "other", "rows"]
    lists = re.findall(r"prim\.ListConstruct (%\S+(?:, %\S+)*) :", graph.text)
    assert [entry.count("%") for entry in lists[:2]] == [3, 2]


class Buffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(8, 8, dtype=torch.bool)),
                             persistent=False)
        self.register_buffer("index", torch.arange(8))
        self.register_buffer("halves", torch.full((8,), 0.5))

    def forward(self, x):
        return x.masked_fill(self.mask, 0.0) + self.index + self.halves


def test_buffers_carry_their_data():
    graph = fact.export(Buffers(), (torch.randn(8, 8),))
    found = {re.search(r'name = "(\w+)"', attributes).group(1): (attributes, type_)
             for attributes, type_ in weight_ops(graph.text)}
    # What `state_dict` leaves out is part of the program.
    assert [name for name, (text, _) in found.items() if text.startswith("{constant")] == ["mask"]
    # Booleans are bytes in `value`; the tensor itself stays boolean.
    assert "dense_resource<mask> : tensor<8x8xi8>" in found["mask"][0]
    assert found["mask"][1] == "!torch.vtensor<[8,8],i1>"
    assert "dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>" in found["index"][0]
    assert "dense<5.000000e-01> : tensor<8xf32>" in found["halves"][0]
    data = re.search(r'mask: "0x01000000([0-9A-F]+)"', graph.text).group(1)
    assert bytes.fromhex(data) == bytes(Buffers().mask.to(torch.uint8).flatten().tolist())


def test_large_buffers_do_not():
    class Large(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.zeros(5 << 20))  # 20 MiB

        def forward(self, x):
            return x + self.table

    text = fact.export(Large(), (torch.randn(1, 1),)).text
    assert weight_ops(text)[0][0] == '{name = "table"}'


def test_meta_modules_export_without_data():
    with torch.device("meta"):
        module, x = Buffers(), torch.empty(8, 8)
    graph = fact.export(module, (x,))
    assert "value" not in "".join(attributes for attributes, _ in weight_ops(graph.text))
    assert graph.weights["mask"].is_meta


class ConstantsOnDevice(nn.Module):
    def forward(self, x):
        rows = torch.arange(x.shape[0], device=x.device)[:, None]
        lowest = torch.min(x, torch.tensor(0.25, device=x.device)) + torch.as_tensor(0.5, device=x.device)
        mask = torch.tril(torch.ones(*x.shape, device=x.device))
        scaled = lowest * x.new_tensor([1.0, 2.0, 3.0]) + x.new_tensor(data=[1.5, 2.0, 3.0])
        return scaled.masked_fill(mask == 0, 0.0) * rows


def test_constants_of_forward_have_data_on_the_meta_device():
    """What depends on no data is the same with and without it."""
    def text(device):
        exported = fact.export(ConstantsOnDevice(), (torch.randn(4, 3, device=device),)).text
        return re.sub(r"(folded|lifted_tensor)_\d+", "constant", exported)

    assert text("meta") == text("cpu") and "value = dense<2.5" in text("meta")


class Constants(nn.Module):
    def forward(self, x):
        return torch.where(x > 0, x, torch.tensor(0.25)) * torch.tensor([1.0, 2.0, 3.0])


def test_constants_of_forward_are_marked():
    found = weight_ops(fact.export(Constants(), (torch.randn(2, 3),)).text)
    assert [attributes.startswith("{constant, name =") for attributes, _ in found] == [True, True]
    assert all("value = dense<" in attributes for attributes, _ in found)


class ChangesBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


def test_a_changed_buffer_is_a_further_result_without_a_value():
    graph = fact.export(ChangesBuffer().eval(), (torch.randn(2),))
    assert [entry["name"] for entry in graph.outputs] == ["output0", "new_count"]
    assert [(m.output, m.target) for m in graph.signature.mutations] == [(1, "count")]
    # The compiler must not rely on what it was.
    assert weight_ops(graph.text)[0][0] == '{name = "count"}'


def test_running_averages_of_a_norm_in_training_are_further_results():
    graph = fact.export(nn.BatchNorm1d(4), (torch.randn(2, 4),))
    assert [entry["name"] for entry in graph.outputs] == [
        "output0", "new_running_mean", "new_running_var", "new_num_batches_tracked"]
    graph = fact.export(nn.BatchNorm1d(4).eval(), (torch.randn(2, 4),))
    assert [entry["name"] for entry in graph.outputs] == ["output0"]


def test_a_changed_input_is_a_further_result():
    class ChangesInput(nn.Module):
        def forward(self, cache, x):
            cache.copy_(x)
            return x + 1

    graph = fact.export(ChangesInput(), (torch.randn(2), torch.randn(2)))
    assert [entry["name"] for entry in graph.outputs] == ["output0", "new_cache"]
    assert [(m.output, m.target) for m in graph.signature.mutations] == [(1, 0)]


class Casts(nn.Module):
    def forward(self, x):
        return x.to(torch.float16).to(torch.float32)


def test_one_tensor_given_twice_is_two_inputs():
    class Sum(nn.Module):
        def forward(self, a, b):
            return a + 2 * b

    x = torch.randn(4, 4)
    text = fact.export(Sum(), [x, x]).text
    assert re.search(r"aten\.mul\.\w+ %arg1, ", text)
    assert re.search(r"aten\.add\.Tensor %arg0, ", text)


def test_checks_left_by_casts_are_dropped():
    text = fact.export(Casts(), (torch.randn(2, 2),)).text
    assert "_assert" not in text
    assert "f16" in text


class Lines(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        h = self.inner(x)
        return F.gelu(h)


def test_locations_name_the_users_lines():
    text = fact.export(Lines(), (torch.randn(2, 4),)).text
    assert "torch/nn" not in text
    locations = dict(re.findall(r'(#loc\d*) = loc\("[^"]*test_export\.py":(\d+):0\)', text))
    for op, fragment in (("aten.linear", "self.inner(x)"), ("aten.gelu", "F.gelu(h)")):
        reference = re.search(op.replace(".", r"\.") + r".* loc\((#loc\d*)\)", text).group(1)
        assert int(locations[reference]) == line_of(Lines.forward, fragment)


def test_called_lines_have_their_callers(root):
    w = load_workload(str(root / "examples" / "workloads" / "mini_gpt_block.py"), size="small")
    assert "loc(callsite(" in fact.export(w.module, w.inputs).text


class Nested(nn.Module):
    def forward(self, x, scale=2, extra=None):
        return {"logits": x * scale, "none": None, "pair": (x + 1, [x - 1])}


def test_structure_of_results_and_arguments():
    graph = fact.export(Nested(), (torch.randn(2), 3))
    assert [entry["name"] for entry in graph.inputs] == ["x"]
    assert [entry["name"] for entry in graph.outputs] == ["logits", "output1", "output2"]
    built = graph.signature.build(["a", "b", "c"])
    assert built == {"logits": "a", "none": None, "pair": ("b", ["c"])}
    assert '{fact.name = "x"}' in graph.text and '{fact.name = "logits"}' in graph.text


def test_no_tensor_returned():
    class Nothing(nn.Module):
        def forward(self, x):
            return 3

    with pytest.raises(fact.FactError, match="returns no tensor"):
        fact.export(Nothing(), (torch.randn(2),))


class Lambda(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def test_results_that_are_no_tensors():
    exported = fact.export(Lambda(lambda x: (x * 2, x.shape[0], None, "name", 1.5)),
                           (torch.randn(4, 3),))
    y = torch.randn(4, 3)
    assert exported.signature.build([y]) == (y, 4, None, "name", 1.5)


def test_narrow_integers_are_wide_and_wrap():
    bytes_ = torch.tensor([[0, 1, 200, 255]], dtype=torch.uint8)
    words = torch.tensor([[-32768, 32767, -1, 4]], dtype=torch.int16)

    def function(x, y):
        return (x + 100, -x, x * x, x // 3, x > 100, x.float() / 2, ~x, x.sum(), y - 1, y * y,
                x + y, (x + 0.5).to(torch.uint8), torch.cat([x, x.flip(-1)])[0])

    class Narrow(nn.Module):
        def __init__(self, persistent=False):
            super().__init__()
            self.register_buffer("table", words.clone(), persistent=persistent)

        def forward(self, x, y):
            return *function(x, y), self.table * y

    for persistent in (False, True):
        program = _export_program(Narrow(persistent), (bytes_, words), {})
        narrow_integers.widen(program)
        results = program.module(check_guards=False)(as_stored(bytes_), as_stored(words))
        for result, expected in zip(results, Narrow()(bytes_, words), strict=True):
            assert result.dtype == as_stored(expected).dtype
            assert torch.equal(as_seen(result, expected.dtype), expected)


def test_callers_see_narrow_integers():
    exported = fact.export(Lambda(lambda x: (x + 1, x.float())), (torch.zeros(3).byte(),))
    signature = exported.signature
    assert [entry["type"] for entry in exported.inputs + exported.outputs] == ["i8", "i8", "f32"]
    assert "ui8" not in exported.text and "si32" in exported.text
    signature = type(signature).from_json(signature.to_json())
    x = torch.tensor([1, 2, 255], dtype=torch.uint8)
    (stored,) = signature.flatten((x,), {})
    assert stored.dtype == torch.int8 and stored.tolist() == [1, 2, -1]
    assert stored.data_ptr() == x.data_ptr()
    first, second = signature.build([stored, stored.float()])
    assert torch.equal(first, x) and first.dtype == torch.uint8 and second.dtype == torch.float32
    with pytest.raises(fact.FactError, match="argument 'x' has type torch.int64; expected "
                                             "torch.uint8"):
        signature.flatten((x.long(),), {})


def test_unsupported_type():
    with pytest.raises(fact.FactError, match="type torch.float8_e4m3fn is not supported; supported are "):
        fact.export(Lambda(lambda x: x.float()), (torch.randn(2).to(torch.float8_e4m3fn),))


def test_what_torch_export_refuses():
    class Branches(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    line = line_of(Branches.forward, "if ")
    with pytest.raises(fact.FactError, match="torch.export could not export Branches: .* value of "
                                             rf"a tensor \(.*test_export.py, line {line}\), .*where"):
        fact.export(Branches(), (torch.randn(2),))


def test_only_what_changes_tensors_is_traced_again(monkeypatch):
    traced = []
    again = torch.export.ExportedProgram.run_decompositions
    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions",
                        lambda program, table: traced.append(table) or again(program, table))

    class Plain(nn.Module):
        def forward(self, x):
            first, second = x.chunk(2)
            return F.silu(first).reshape(-1) * second.flatten()

    class Changes(nn.Module):
        def forward(self, x):
            return x.clone().mul_(2)

    if fact.toolchain.find_tool("fact-opt") is not None:
        assert "aten.chunk" in ops(fact.export(Plain(), (torch.randn(4, 3),)).text)
        assert traced == []
    assert "aten.mul" in ops(fact.export(Changes(), (torch.randn(4),)).text)
    assert len(traced) == 1


def test_an_empty_tensor_leaves_a_concatenation():
    class Grows(nn.Module):
        def forward(self, x):
            return torch.cat([torch.tensor([], dtype=x.dtype), x], dim=-2) * 2

    graph = fact.export(Grows(), (torch.randn(2, 4, 3, 8),))
    assert "torch.prim.ListConstruct %arg0 :" in graph.text and not graph.weights


def test_a_buffer_that_is_reached_by_another_way_is_one_buffer():
    """As in static caches, whose tensors are attributes of an object that is no module."""
    class Static(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(4, 3))
            self.cache = {"keys": self.keys}

        def forward(self, x):
            return self.cache["keys"].add_(x) * 2

    graph = fact.export(Static(), (torch.randn(4, 3),))
    assert [mutation.target for mutation in graph.signature.mutations] == ["keys"]
    assert list(graph.weights) == ["keys"]


def test_the_step_that_failed_is_named(monkeypatch):
    def fail(program, table):
        raise AssertionError("expected a GraphModule")

    class Changes(nn.Module):
        def forward(self, x):
            return x.clone().mul_(2)

    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", fail)
    with pytest.raises(fact.FactError, match="torch.export exported Changes, but PyTorch could not "
                       "make the program functional .*expected a GraphModule"):
        fact.export(Changes(), (torch.randn(4),))


def test_a_class_that_pytorch_does_not_know_is_named_with_a_way_out():
    class Result:
        def __init__(self, x):
            self.x = x

    class Returns(nn.Module):
        def forward(self, x):
            return Result(x * 2)

    with pytest.raises(fact.FactError, match="Result is in the output.*register_dataclass"):
        fact.export(Returns(), (torch.randn(4),))


def test_symbolic_sizes_are_refused_with_a_way_out():
    x = torch.randn(3, 8)
    program = torch.export.export(nn.Tanh(), (x,), dynamic_shapes=({0: torch.export.Dim("b")},))
    with pytest.raises(fact.FactError, match="input 'input' of the exported program has symbolic "
                       "sizes .*export without dynamic_shapes"):
        fact.compile(program, target="host")
    with pytest.raises(fact.FactError, match="dynamic_shapes: a library has fixed sizes"):
        fact.compile(nn.Tanh(), (x,), dynamic_shapes=({0: torch.export.Dim("b")},))
    with pytest.raises(fact.FactError, match="inputs are missing"):
        fact.compile(nn.Tanh())


def test_recurrent_layers_warn_of_nothing(recwarn):
    fact.export(nn.Sequential(nn.GRU(3, 4)), (torch.randn(2, 1, 3),))
    fact.export(nn.GRU(3, 4), (torch.randn(2, 1, 3),))
    assert not [str(warning.message) for warning in recwarn]


@pytest.mark.parametrize("op, function", [
    ("aten.index.Tensor", lambda x: x[x > 0]),
    ("aten.sort.default", lambda x: x[x > 0].sort().values),
    ("aten.masked_select.default", lambda x: x.masked_select(x > 0)),
    ("aten.nonzero.default", lambda x: x.nonzero()),
    ("aten.bincount.default", lambda x: x.long().abs().bincount(minlength=9)[:9]),
    ("aten.slice.Tensor", lambda x: x[:x.abs().long().sum().item()]),
], ids=lambda value: value if isinstance(value, str) else "")
def test_sizes_that_depend_on_values_are_refused_with_the_op_and_its_line(op, function):
    line = line_of(Lambda.forward, "return")
    with pytest.raises(fact.FactError, match=f"size of the result of '{op}' .*test_export.py, line "
                       f"{line}.* depends on values.*torch.where"):
        fact.export(Lambda(function), (torch.randn(8),))


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(3, 4, batch_first=True)

    def forward(self, x):
        lengths = torch.tensor([3, 2])
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        return nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0], batch_first=True)[0]


@pytest.mark.parametrize("words, module, x", [
    ("packs sequences.*lengths are values: give the layer padded", Packed(), torch.randn(2, 3, 3)),
    ("torch.func is used.*test_export.py.*: write it out", Lambda(
        lambda x: torch.func.vmap(torch.func.grad(lambda y: y.sin().sum()))(x)), torch.randn(3, 4)),
    ("torch.func is used.*: write it out", Lambda(
        lambda x: torch.func.grad(lambda y: y.sin().sum())(x)), torch.randn(3, 4)),
    ("'aten.to_sparse.*test_export.py.*has a sparse result.*index_add",
     Lambda(lambda x: torch.sparse.mm(x.to_sparse(), x)), torch.eye(3)),
    ("'torch.cond'.*test_export.py.*torch.where", Lambda(
        lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))), torch.randn(3)),
    ("size of the result of 'aten._ctc_loss.*test_export.py.*depends on values", Lambda(
        lambda x: F.ctc_loss(x, torch.ones(2, 4).long(), torch.full((2,), 12), torch.full((2,), 4))),
     torch.randn(12, 2, 10)),
    ("decides by the value.*leave a check out", Lambda(lambda x: x if x.sum() > 0 else -x), torch.randn(3)),
], ids=["packed", "vmap", "grad", "sparse", "cond", "ctc", "branch"])
def test_what_cannot_be_exported_says_what_would_be_right(words, module, x):
    with pytest.raises(fact.FactError, match=words):
        fact.export(module, (x,))


def test_inputs_with_names_of_ops():
    class Names(nn.Module):
        def forward(self, t, mul, where):
            return (t @ mul.t())[where > 0].sum(0)

    graph = fact.export(Names(), (torch.randn(3, 4), torch.randn(5, 4), torch.randn(3)))
    assert [entry["name"] for entry in graph.inputs] == ["t", "mul", "where"]


def test_decomposed_ops_have_the_users_line():
    exported = fact.export(Lambda(lambda x: F.cross_entropy(x, x.argmax(-1))),
                           (torch.randn(4, 3),))
    line = line_of(Lambda.forward, "return")
    assert "cross_entropy" not in exported.text
    assert f'test_export.py":{line}' in exported.text


def test_ops_that_have_no_form_stay_whole():
    exported = fact.export(Lambda(lambda x: torch.linalg.eigvalsh(x @ x.mT)),
                           (torch.randn(3, 3),))
    assert "aten.linalg_eigvalsh" in exported.text or "_linalg_eigh" in exported.text


class Folded(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(2, 4, dtype=torch.long))
        self.register_buffer("table", torch.arange(4.0), persistent=False)

    def forward(self, x):
        positions = torch.arange(4)[None]
        # What transformers does without a mask.
        starts = torch.diff(positions, prepend=positions[:, :1] - 1, dim=-1) != 1
        return x / torch.sqrt(torch.tensor(8.0)) + starts.cumsum(-1) + self.table.exp() + self.kept


def test_what_depends_on_no_input_is_folded():
    text = fact.export(Folded(), (torch.randn(2, 4),)).text
    assert set(ops(text)) == {"aten.div", "aten.add"}
    assert 'name = "kept"' in text and "constant, name = \"kept\"" not in text


def test_transformer_layers_are_not_single_ops():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    enabled = torch.backends.mha.get_fastpath_enabled()
    with torch.no_grad():
        found = ops(fact.export(layer, (torch.randn(2, 5, 8),)).text)
    assert "aten.scaled_dot_product_attention" in found
    assert torch.backends.mha.get_fastpath_enabled() == enabled


def test_precision_is_recorded():
    text = fact.export(nn.Linear(2, 2), (torch.randn(1, 2),)).text
    assert 'fact.float32_matmul_precision = "highest"' in text
    assert 'fact.float32_convolution_precision = "high"' in text


@pytest.mark.parametrize("settings, products, convolutions", [
    ("torch.set_float32_matmul_precision('high'); torch.backends.cudnn.allow_tf32 = False",
     "high", "highest"),
    ("torch.backends.cuda.matmul.fp32_precision = 'tf32'; "
     "torch.backends.cudnn.conv.fp32_precision = 'ieee'", "high", "highest"),
    ("torch.backends.cuda.matmul.fp32_precision = 'ieee'", "highest", "high"),
])
def test_precision_is_read_however_it_is_set(settings, products, convolutions):
    """In a process of its own: PyTorch does not take settings of its newer kind back."""
    code = (f"import torch; {settings}\nfrom fact import precision\n"
            "print(precision.of_products(), precision.of_convolutions())")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == [products, convolutions]


def test_the_package_imports_without_torch_mlir():
    code = ("import sys; sys.modules['torch_mlir'] = None; sys.modules['rich'] = None; "
            "import fact, torch, fact.report, fact.bench, fact.__main__\n"
            "fact.report.table(['a'], [['1']])\n"
            "try: fact.export(torch.nn.ReLU(), (torch.ones(1),))\n"
            "except fact.FactError as e: print(e)")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "export needs torch-mlir" in out.stdout and "make setup" in out.stdout


COMPILER = fact.toolchain.find_tool("fact-compile")


@pytest.fixture
def other_tools(tmp_path, monkeypatch):
    """A folder in which alone tools are found."""
    monkeypatch.setenv("FACT_BIN_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(fact.toolchain, "checkout", lambda: None)
    _supported_ops.cache_clear()
    yield tmp_path
    _supported_ops.cache_clear()


@pytest.mark.skipif(COMPILER is None, reason="fact-compile is not built")
def test_ops_are_written_out_without_the_tools_of_a_checkout(other_tools):
    """A wheel has no fact-opt."""
    (other_tools / "fact-compile").symlink_to(COMPILER)
    assert fact.toolchain.find_tool("fact-opt") is None
    net = nn.Sequential(nn.Conv1d(3, 4, 3), nn.BatchNorm1d(4), nn.MaxPool1d(2)).eval()
    assert "torch.aten.conv1d" not in fact.export(net, (torch.randn(2, 3, 9),)).text


def test_a_compiler_that_does_not_say_what_it_supports(other_tools):
    tool = other_tools / "fact-compile"
    tool.write_text("#!/bin/sh\necho 'no such option' >&2\nexit 1\n")
    tool.chmod(0o755)
    with pytest.raises(fact.FactError, match="which ops it supports.*no such option"):
        fact.export(nn.ReLU(), (torch.randn(2),))
