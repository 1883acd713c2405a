# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small linear systems, executed on the host and judged beside eager."""

import pytest
import torch

import fact
from fact import verify
from fact.export import export
from operators import Several


def random(*shape, seed=1, dtype=torch.float32):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def run(functions, *inputs):
    """Compiles, which compares with fp64, and looks at types and shapes of what the caller gets."""
    module = Several(functions)
    compiled = fact.compile(module, inputs, target="host", candidates=1)
    for index, (found, own) in enumerate(zip(compiled(*inputs), module(*inputs), strict=True)):
        assert (found.dtype, found.shape) == (own.dtype, own.shape), index
        assert verify.compare(found, own.double()).norm < 1e-4, index


def test_general_matrices():
    """Rows are exchanged: some pivots are 0 or small."""
    matrix, right = random(3, 4, 4), random(3, 4, 2)
    matrix[0, 0, 0] = 0
    matrix[1, 1:3, :2] = matrix[1, 0, :2]
    run([
        lambda a, b: torch.linalg.inv(a),
        lambda a, b: torch.inverse(a[0]),
        lambda a, b: torch.linalg.solve(a[0], b),
        lambda a, b: torch.linalg.solve(a[0], b[0, :, 0]),
        lambda a, b: torch.linalg.solve(a, b.mT, left=False),
        lambda a, b: torch.linalg.det(a),
        lambda a, b: torch.linalg.slogdet(a)[0],
        lambda a, b: torch.linalg.slogdet(a)[1],
        lambda a, b: torch.linalg.inv_ex(a)[0],
    ], matrix, right)


def test_wide_types():
    run([torch.linalg.solve], random(5, 5, dtype=torch.float64), random(5, 2, dtype=torch.float64))


def test_positive_matrices():
    root, right = random(3, 4, 4), random(3, 4, 2)
    matrix = root @ root.mT + torch.eye(4)
    run([
        lambda a, b: torch.linalg.cholesky(a),
        lambda a, b: torch.linalg.cholesky(a, upper=True),
        lambda a, b: torch.cholesky_solve(b, torch.linalg.cholesky(a)),
        lambda a, b: torch.cholesky_inverse(torch.linalg.cholesky(a)),
        lambda a, b: torch.linalg.solve_triangular(a.tril(), b, upper=False),
        lambda a, b: torch.linalg.solve_triangular(a.triu(), b, upper=True),
        lambda a, b: torch.linalg.solve_triangular(a, b.mT, upper=True, left=False),
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=False, unitriangular=True),
        lambda a, b: torch.logdet(a),
    ], matrix, right)


def test_gaussian_process():
    def predict(x, y, new):
        def kernel(a, b):
            return torch.exp(-0.5 * torch.cdist(a, b).square())

        factor = torch.linalg.cholesky(kernel(x, x) + 0.1 * torch.eye(x.shape[0]))
        return kernel(new, x) @ torch.cholesky_solve(y, factor)

    run([predict], random(20, 3), random(20, 1, seed=2), random(5, 3, seed=3))


def test_products_of_integers():
    x, y = (torch.randint(-128, 128, (32, 24), dtype=torch.int8, generator=torch.Generator().manual_seed(s))
            for s in (1, 2))
    run([lambda x, y: torch._int_mm(x, y.t())], x, y)


def test_singular_matrices():
    """PyTorch raises an error, which a library cannot."""
    compiled = fact.compile(Several([torch.linalg.inv, torch.linalg.det]), (torch.eye(3),), target="host",
                            candidates=1)
    inverse, determinant = compiled(torch.ones(3, 3))
    assert not inverse.isfinite().all() and determinant == 0


def test_columns_that_fail():
    """The number of the first one, which PyTorch returns where it is asked for no error."""
    singular = torch.stack([torch.eye(3), torch.ones(3, 3), torch.zeros(3, 3)])
    indefinite = torch.stack([torch.eye(3), -torch.eye(3), torch.diag(torch.tensor([1.0, 2.0, -1.0]))])
    functions = [lambda a, b: torch.linalg.inv_ex(a)[1],
                 lambda a, b: torch.linalg.cholesky_ex(b)[1],
                 lambda a, b: torch.linalg.solve_ex(a, b)[1]]
    compiled = fact.compile(Several(functions), (torch.eye(3).expand(3, 3, 3), indefinite), target="host",
                            candidates=1)
    for found, function in zip(compiled(singular, indefinite), functions):
        assert torch.equal(found, function(singular, indefinite))


def test_too_many_rows():
    with pytest.raises(fact.FactError, match="unsupported op 'torch.aten.linalg_inv'"):
        fact.compile(Several([torch.linalg.inv]), (torch.eye(65),), target="host", candidates=1)
    text = export(Several([torch.linalg.inv]), (torch.eye(65),)).text
    assert "aten.linalg_inv" in text
