# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# fact_add_unit_tests(NAME [COMPILER] [OPTIMIZED] sources... [FULL tests...] LINK libraries...
#                     [PROPERTIES properties...])
#
# Adds the program NAME and each of its googletest tests. COMPILER: it uses MLIR. Programs
# without are compiled with exceptions; without optimization, which takes half of the time
# to build them, unless they are OPTIMIZED, since sources of a library are among theirs. FULL:
# tests for make check-full alone.
find_package(GTest REQUIRED)
include(GoogleTest)

function(fact_add_unit_tests name)
  cmake_parse_arguments(ARG "COMPILER;OPTIMIZED" "" "FULL;LINK;PROPERTIES" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  if(ARG_COMPILER)
    fact_precompile_headers(${name})
  else()
    target_compile_options(${name} PRIVATE -fexceptions -frtti)
    if(NOT ARG_OPTIMIZED)
      target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
    endif()
  endif()
  # ctest gives the properties of a test to all of its name.
  set(discover ${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}.")
  if(ARG_FULL)
    list(JOIN ARG_FULL ":" full)
    gtest_discover_tests(${discover} TEST_LIST ${name}_FULL TEST_FILTER "${full}"
      PROPERTIES ${ARG_PROPERTIES} LABELS full)
    list(APPEND discover TEST_FILTER "-${full}")
  endif()
  if(ARG_PROPERTIES)
    list(APPEND discover PROPERTIES ${ARG_PROPERTIES})
  endif()
  gtest_discover_tests(${discover})
endfunction()
