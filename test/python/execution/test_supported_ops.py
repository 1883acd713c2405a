# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of supported ops. Sorted after the tests whose results it uses."""

import pytest

import supported_ops

STALE = "docs/supported-ops.md is stale: run test/python/execution/supported_ops.py"


@pytest.mark.full
def test_the_page_is_current():
    assert supported_ops.PAGE.read_text() == supported_ops.page(), STALE


def without_16_bit_types(page: str) -> str:
    return page.replace(", bf16", "").replace(", fp16", "")


def test_the_page_is_current_in_one_type():
    """Each group in fp32, which takes a third of the time; ops are the same in other types."""
    found = supported_ops.page(lambda group: ["fp32"] if "fp32" in group.types else group.types)
    assert without_16_bit_types(supported_ops.PAGE.read_text()) == without_16_bit_types(found), STALE


def test_notes_are_about_supported_ops():
    assert set(supported_ops.NOTES) <= set(supported_ops.registered())
