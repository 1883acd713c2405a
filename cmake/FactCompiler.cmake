# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The part of the build that needs LLVM and MLIR.

find_package(MLIR REQUIRED CONFIG)
if(LLVM_VERSION_MAJOR VERSION_LESS 22)
  message(FATAL_ERROR "FACT needs MLIR 22; ${MLIR_DIR} is of LLVM ${LLVM_PACKAGE_VERSION}")
endif()
if(NOT DEFINED MLIR_LINK_MLIR_DYLIB)
  set(MLIR_LINK_MLIR_DYLIB ON)
endif()
# LLVMConfig.cmake sets this as a normal variable, which hides a -D on the
# command line; static archives beside the shared library would give every
# dialect two identities.
if(NOT MLIR_LINK_MLIR_DYLIB)
  set(LLVM_LINK_LLVM_DYLIB OFF)
endif()

# Static tools take the members they need from all archives, whose order does not matter to lld.
# Their own lists of dependencies name the shared library, at least Debian's.
file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
foreach(name z zstd)
  fact_find_archive(FACT_${name}_ARCHIVE ${name})
  list(APPEND archives ${FACT_${name}_ARCHIVE})
endforeach()
add_library(FactArchives INTERFACE)
target_link_libraries(FactArchives INTERFACE ${archives} m)
set(FACT_LLVM_LIBRARIES $<${FACT_IF_SHARED}:MLIR> $<${FACT_IF_SHARED}:LLVM>)

# Installed tools find LLVM where the build found it.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(LLVM_RUNTIME_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR})
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
include(FactEmbed)
if(FACT_SANITIZE)
  # LLVM may be built without the type information that this one needs, and asks for defined
  # symbols; those of a sanitizer are the program's.
  add_compile_options(-fno-sanitize=vptr)
  string(APPEND CMAKE_SHARED_LINKER_FLAGS " -Wl,-z,undefs")
endif()

# Assertions of FACT alone: the layout of pass statistics is still that of LLVM's libraries.
if(NOT LLVM_ENABLE_ASSERTIONS AND NOT CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include \"${PROJECT_SOURCE_DIR}/cmake/LLVMStatistic.h\">")
endif()

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(
  ${PROJECT_SOURCE_DIR}/dialects/Fact/include
  ${PROJECT_SOURCE_DIR}/dialects/Torch/include
  ${PROJECT_BINARY_DIR}/dialects/Fact/include
  ${PROJECT_BINARY_DIR}/dialects/Torch/include)
separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${definitions})

# Costs and tolerances are written into bundles and are parts of keys, so they
# are the same numbers on every processor, those that fuse products and sums too.
add_compile_options(-ffp-contract=off)

# Four fifths of a file's compile time are MLIR's headers and the dialect's own, so
# the dialect's library compiles them once and the others use what it has.
function(fact_precompile_headers name)
  if(NOT FACT_PRECOMPILE_HEADERS)
    return()
  endif()
  if(NOT name STREQUAL FactDialect)
    target_precompile_headers(${name} REUSE_FROM FactDialect)
    get_target_property(type ${name} TYPE)
    if(type STREQUAL EXECUTABLE)
      # Not -fPIE: what was compiled for libraries serves no other code.
      target_compile_options(${name} PRIVATE -fPIC)
    endif()
    return()
  endif()
  target_precompile_headers(${name} PRIVATE
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/IR/Builders.h>
    <mlir/IR/BuiltinOps.h>
    <mlir/IR/IRMapping.h>
    <mlir/IR/Matchers.h>
    <mlir/IR/PatternMatch.h>
    <mlir/Pass/Pass.h>
    <mlir/Transforms/DialectConversion.h>
    <mlir/Transforms/GreedyPatternRewriteDriver.h>
    <fact/Dialect/Fact/Fact.h>)
endfunction()

# fact_add_library(NAME sources... DEPENDS generated... LINK libraries...)
function(fact_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK;MLIR" ${ARGN})
  add_library(${name} ${ARG_UNPARSED_ARGUMENTS})
  # A macro of its own would keep a library from using the common precompiled headers.
  set_target_properties(${name} PROPERTIES DEFINE_SYMBOL "")
  fact_precompile_headers(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  # For projects that find_package(FACT); here the folders are everybody's.
  foreach(root ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    target_include_directories(${name} INTERFACE
      $<BUILD_INTERFACE:${root}/include>
      $<BUILD_INTERFACE:${root}/dialects/Fact/include>
      $<BUILD_INTERFACE:${root}/dialects/Torch/include>)
  endforeach()
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(NOT CMAKE_CROSSCOMPILING)
    target_include_directories(${name} SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  endif()
  install(TARGETS ${name} EXPORT FACTCompilerTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(MLIR_LINK_MLIR_DYLIB)
    target_link_libraries(${name} PUBLIC ${FACT_LLVM_LIBRARIES})
  else()
    target_link_libraries(${name} PUBLIC ${ARG_MLIR})
  endif()
endfunction()

add_subdirectory(dialects)
add_subdirectory(include/fact)
add_subdirectory(lib)
add_subdirectory(tools)
add_subdirectory(docs)
