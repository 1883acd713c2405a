# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import stat
import sys

import lit.formats

config.name = "FACT"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "python", "gpu", "mutants", "Inputs"]
config.test_source_root = os.path.join(config.fact_source_root, "test")
config.test_exec_root = os.path.join(config.fact_binary_root, "test")
config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.fact_binary_root, "bin"),
        config.llvm_tools_dir,
        config.environment["PATH"],
    ]
)
# Neither the user's entries nor the user's folders.
config.environment["FACT_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
config.environment["FACT_PATTERNS"] = os.path.join(config.test_exec_root, "no-patterns")
config.environment["FACT_LEARN"] = "0"
if "FACT_SEED" in os.environ:
    config.environment["FACT_SEED"] = os.environ["FACT_SEED"]
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%llvm_libs", os.path.join(config.llvm_tools_dir, "..", "lib")))
# A device whose writes fail for want of space; not every container has it.
if os.path.exists("/dev/full") and stat.S_ISCHR(os.stat("/dev/full").st_mode):
    config.available_features.add("dev-full")
# FACT's libraries need a program that has the sanitizer in it.
if config.fact_sanitize:
    config.available_features.add("sanitized")
# Long tests: `make check-full`.
if lit_config.params.get("full"):
    config.available_features.add("full")
