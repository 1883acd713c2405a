# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# fact_add_unit_tests(NAME [COMPILER] [OPTIMIZED] sources... LINK libraries... [PROPERTIES properties...])
#
# Adds the program NAME and each of its googletest tests. COMPILER: it uses MLIR. Programs
# without are compiled with exceptions; without optimization, which takes half of the time
# to build them, unless they are OPTIMIZED, since sources of a library are among theirs.
find_package(GTest REQUIRED)
include(GoogleTest)

function(fact_add_unit_tests name)
  cmake_parse_arguments(ARG "COMPILER;OPTIMIZED" "" "LINK;PROPERTIES" ${ARGN})
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
  if(ARG_PROPERTIES)
    list(PREPEND ARG_PROPERTIES PROPERTIES)
  endif()
  # ctest gives the properties of a test to all of its name.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}." ${ARG_PROPERTIES})
endfunction()
