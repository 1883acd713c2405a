# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of supported ops. Sorted after the tests whose results it uses."""

import supported_ops


def test_the_page_is_current():
    found = supported_ops.PAGE.read_text()
    assert found == supported_ops.page(), (
        "docs/supported-ops.md is stale: run test/python/execution/supported_ops.py")


def test_notes_are_about_supported_ops():
    assert set(supported_ops.NOTES) <= set(supported_ops.registered())
