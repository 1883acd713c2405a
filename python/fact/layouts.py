# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and results that are dense in another order of their dimensions than row-major.

A library's tensors are row-major. An input that the module is compiled with in another order,
such as `torch.channels_last` or a transposed matrix, is an input of the library with its
dimensions in the order of memory, and the program begins with the permute that leads back,
which moves nothing. Results that the module returns in another order are treated likewise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

aten = torch.ops.aten


def memory_order(tensor: torch.Tensor) -> list[int] | None:
    """The dimensions from the slowest to the fastest in memory; None if the tensor is row-major,
    or not dense in any order."""
    if tensor.layout != torch.strided or tensor.is_contiguous():
        return None
    strides = tensor.stride()
    order = sorted(range(tensor.dim()), key=lambda dim: (-strides[dim], tensor.shape[dim] == 1, dim))
    return order if tensor.permute(order).is_contiguous() else None


def inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=lambda dim: order[dim])


def record_results(graph: torch.fx.Graph) -> None:
    """Notes the layouts of a program's results, before its ops are written out: other ops with
    the same elements may have them in another order."""
    output = next(iter(reversed(graph.nodes)))
    output.meta["layouts"] = [value.meta.get("val") if isinstance(value, torch.fx.Node) else None
                              for value in output.args[0]]


def orders_of(entries: Iterable[dict[str, Any]]) -> dict[int, list[int]]:
    """The orders of tensors that have one, by position."""
    return {index: entry["order"] for index, entry in enumerate(entries) if "order" in entry}


def store_in_order(graph: torch.fx.Graph, inputs: list[dict], outputs: list[dict]) -> None:
    """Makes the inputs and results whose entries have an `order` row-major in that order."""
    placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    first = next(node for node in graph.nodes if node.op != "placeholder")
    for index, order in orders_of(inputs).items():
        node = placeholders[inputs[index]["name"]]
        with graph.inserting_before(first):
            view = graph.call_function(aten.permute.default, (node, inverse(order)))
        view.meta["val"] = node.meta["val"]
        node.replace_all_uses_with(view, delete_user_cb=lambda user, view=view: user is not view)
        node.meta["val"] = node.meta["val"].permute(order)
        node.meta.pop("tensor_meta", None)
        inputs[index]["shape"] = list(node.meta["val"].shape)
    output = next(iter(reversed(graph.nodes)))
    results = list(output.args[0])
    for index, order in orders_of(outputs).items():
        with graph.inserting_before(output):
            stored = graph.call_function(aten.permute.default, (results[index], order))
        stored.meta = {**results[index].meta, "val": results[index].meta["val"].permute(order)}
        stored.meta.pop("tensor_meta", None)
        results[index] = stored
        outputs[index]["shape"] = list(stored.meta["val"].shape)
    output.args = (tuple(results),)
