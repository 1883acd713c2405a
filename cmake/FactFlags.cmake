# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Warnings, sanitizers and coverage of FACT's own targets. None of them is on unless it is
# asked for, so that another compiler's new warning breaks nobody's build; scripts/build.sh
# and the presets ask.

option(FACT_WARNINGS_AS_ERRORS "Compile with -Wall -Wextra -Werror" OFF)
set(FACT_SANITIZE "" CACHE STRING "Sanitizers to compile with: address,undefined or thread")
option(FACT_COVERAGE "Count the lines that run (clang; scripts/coverage.py)" OFF)

if(FACT_WARNINGS_AS_ERRORS)
  # libstdc++'s stable_sort uses what it has deprecated itself.
  add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror
                      -Wno-error=deprecated-declarations)
endif()

if(FACT_SANITIZE)
  add_compile_options(-fsanitize=${FACT_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${FACT_SANITIZE})
else()
  # A shared library that uses another one without linking it is an error. Sanitized ones
  # get the sanitizer's functions from the program.
  string(APPEND CMAKE_SHARED_LINKER_FLAGS " -Wl,-z,defs")
endif()

if(FACT_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()

option(FACT_PRECOMPILE_HEADERS "Compile the headers that every file of a library includes once" ON)
if(FACT_PRECOMPILE_HEADERS AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Without this no two builds have the same bytes, and ccache never hits.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# Half of the compile time of a file that knows JSON is its header.
function(fact_precompile_json name)
  if(FACT_PRECOMPILE_HEADERS)
    target_precompile_headers(${name} PRIVATE
      <filesystem> <map> <string> <vector> <nlohmann/json.hpp> ${ARGN})
  endif()
endfunction()
