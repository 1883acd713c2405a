# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small linear systems, eliminated column by column.

Each column is a few kernels, so these forms are for matrices of tens of rows; larger ones stay
whole, which is an error that names the op. Rows are exchanged as PyTorch's LU does, and a matrix
without an inverse gives infinities or NaN where PyTorch raises an error.
"""

from __future__ import annotations

import torch

from .table import aten, form

_ROWS_LIMIT = 64


def _check_size(matrix: torch.Tensor) -> int:
    if matrix.shape[-1] > _ROWS_LIMIT or matrix.is_complex():
        raise NotImplementedError
    return matrix.shape[-1]


def _first(fails: list[torch.Tensor]) -> torch.Tensor:
    """LAPACK's `info`: the number of the first column that cannot be eliminated, from 1; 0 if all
    can."""
    failing = torch.stack(fails, -1)
    first = failing.to(torch.int32).argmax(-1) + 1
    return torch.where(failing.any(-1), first, 0).to(torch.int32)


# Elimination.


def _exchanged(matrix: torch.Tensor, k: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The matrix with the row of the largest element below the diagonal in place `k`, and whether
    rows were exchanged."""
    rows = torch.arange(n, device=matrix.device)[:, None]
    pivot = (matrix[..., k:n, k].abs().argmax(-1) + k)[..., None, None]
    lower = torch.where(rows == pivot, matrix, 0).sum(-2, keepdim=True)
    rest = torch.where(rows == pivot, matrix[..., k:k + 1, :], matrix)
    return torch.where(rows == k, lower, rest), (pivot != k)[..., 0, 0]


def _solved(matrix: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The solution of `matrix @ x = right`, by elimination above and below the diagonal, and
    `info`."""
    n = _check_size(matrix)
    batch = torch.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    both = torch.cat([matrix.expand(*batch, n, n), right.expand(*batch, *right.shape[-2:])], -1)
    rows = torch.arange(n, device=matrix.device)[:, None]
    fails = []
    for k in range(n):
        both, _ = _exchanged(both, k, n)
        pivot = both[..., k:k + 1, k:k + 1]
        fails.append(pivot[..., 0, 0] == 0)
        row = both[..., k:k + 1, :] / pivot
        both = torch.where(rows == k, row, both - both[..., :, k:k + 1] * row)
    return both[..., n:], _first(fails)


def _determinant(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The diagonal after elimination, and the sign of the exchanges."""
    n = _check_size(matrix)
    diagonal, sign = [], torch.ones(matrix.shape[:-2], dtype=matrix.dtype, device=matrix.device)
    for k in range(n):
        matrix, exchanged = _exchanged(matrix, 0, n - k)
        diagonal.append(matrix[..., 0, 0])
        sign = torch.where(exchanged, -sign, sign)
        factors = matrix[..., 1:, :1] / matrix[..., :1, :1]
        # A column of zeros has nothing to eliminate.
        factors = torch.where(matrix[..., :1, :1] == 0, 0, factors)
        matrix = matrix[..., 1:, 1:] - factors * matrix[..., :1, 1:]
    return torch.stack(diagonal, -1), sign


@form(aten.linalg_inv_ex.default)
def inverse_with_info(matrix, check_errors=False):
    n = _check_size(matrix)
    return _solved(matrix, torch.eye(n, dtype=matrix.dtype, device=matrix.device))


@form(aten.linalg_inv.default, aten.inverse.default)
def inverse(matrix):
    return inverse_with_info(matrix)[0]


def _is_vector(matrix: torch.Tensor, right: torch.Tensor) -> bool:
    return right.dim() == 1 or (right.dim() == matrix.dim() - 1 and right.shape == matrix.shape[:-1])


@form(aten.linalg_solve_ex.default)
def solve_with_info(matrix, right, left=True, check_errors=False):
    is_vector = _is_vector(matrix, right)
    if is_vector and not left:
        raise NotImplementedError
    if not left:
        solution, info = _solved(matrix.mT, right.mT)
        return solution.mT, info
    solution, info = _solved(matrix, right.unsqueeze(-1) if is_vector else right)
    return solution.squeeze(-1) if is_vector else solution, info


@form(aten.linalg_solve.default)
def solve(matrix, right, left=True):
    return solve_with_info(matrix, right, left)[0]


@form(aten.linalg_det.default, aten.det.default)
def determinant(matrix):
    diagonal, sign = _determinant(matrix)
    return diagonal.prod(-1) * sign


@form(aten.linalg_slogdet.default, aten.slogdet.default)
def sign_and_logarithm(matrix):
    diagonal, sign = _determinant(matrix)
    return torch.sgn(diagonal).prod(-1) * sign, diagonal.abs().log().sum(-1)


@form(aten.logdet.default)
def logarithm(matrix):
    sign, size = sign_and_logarithm(matrix)
    return torch.where(sign < 0, torch.nan, size)


# Triangular matrices.


@form(aten.linalg_cholesky_ex.default)
def cholesky_with_info(matrix, upper=False, check_errors=False):
    matrix = matrix.mT if upper else matrix
    n = _check_size(matrix)
    rows = torch.arange(n, device=matrix.device)
    columns, fails = [], []
    for k in range(n):
        pivot = matrix[..., k, k]
        fails.append(~(pivot > 0))
        column = matrix[..., :, k] / pivot[..., None].sqrt()
        column = torch.where(rows < k, 0, column)
        columns.append(column)
        if k + 1 < n:
            matrix = matrix - column[..., :, None] * column[..., None, :]
    lower = torch.stack(columns, -1)
    return lower.mT if upper else lower, _first(fails)


@form(aten.linalg_cholesky.default, aten.cholesky.default)
def cholesky(matrix, upper=False):
    return cholesky_with_info(matrix, upper)[0]


def _substituted(matrix: torch.Tensor, right: torch.Tensor, upper: bool,
                 unit: bool = False) -> torch.Tensor:
    """The solution of `matrix @ x = right` for a triangular matrix."""
    n = _check_size(matrix)
    batch = torch.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    right = right.expand(*batch, *right.shape[-2:])
    solution: dict[int, torch.Tensor] = {}
    for k in reversed(range(n)) if upper else range(n):
        row = right[..., k:k + 1, :]
        row = row if unit else row / matrix[..., k:k + 1, k:k + 1]
        solution[k] = row
        right = right - matrix[..., :, k:k + 1] * row
    return torch.cat([solution[k] for k in range(n)], -2)


@form(aten.linalg_solve_triangular.default)
def solve_triangular(matrix, right, *, upper, left=True, unitriangular=False):
    if not left:
        return _substituted(matrix.mT, right.mT, not upper, unitriangular).mT
    return _substituted(matrix, right, upper, unitriangular)


@form(aten.triangular_solve.default)
def triangular_solve(right, matrix, upper=True, transpose=False, unitriangular=False):
    factor, upper = (matrix.mT, not upper) if transpose else (matrix, upper)
    return _substituted(factor, right, upper, unitriangular), matrix.clone()


@form(aten.cholesky_solve.default)
def cholesky_solve(right, factor, upper=False):
    lower = factor.mT if upper else factor
    return _substituted(lower.mT, _substituted(lower, right, False), True)


@form(aten.cholesky_inverse.default)
def cholesky_inverse(factor, upper=False):
    n = _check_size(factor)
    return cholesky_solve(torch.eye(n, dtype=factor.dtype, device=factor.device), factor, upper)
