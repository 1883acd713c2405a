# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# fact_add_tool(NAME [COMPILER] [SHIPPED] sources... LINK libraries...)
#
# Adds the tool NAME, which links shared libraries, and NAME-static, which brings LLVM, MLIR,
# SQLite and the C++ library with it and needs libc alone: that is what wheels have and what
# goes to machines without LLVM. Both are made of the same objects. COMPILER: the tool has LLVM in
# it. SHIPPED: `ninja fact-static-tools`, and so a wheel, has it; static tools are in static/bin.

# What a library links is decided by the tool that it ends up in: $<${FACT_IF_STATIC}:archive> and
# $<${FACT_IF_SHARED}:library>.
set(FACT_IF_STATIC "$<BOOL:$<TARGET_PROPERTY:FACT_STATIC>>")
set(FACT_IF_SHARED "$<NOT:${FACT_IF_STATIC}>")
set(FACT_STATIC_FOLDER ${PROJECT_BINARY_DIR}/static)
add_custom_target(fact-static-tools)
# One link takes half a gigabyte.
set_property(GLOBAL APPEND PROPERTY JOB_POOLS fact_static_link=1)

# Sets RESULT to the archive of a library; configuring never fails for want of one, only
# linking a static tool does.
function(fact_find_archive result name)
  find_library(${result} NAMES lib${name}.a)
  if(NOT ${result})
    set(${result} lib${name}.a PARENT_SCOPE)
  endif()
endfunction()

function(fact_add_tool name)
  cmake_parse_arguments(ARG "COMPILER;SHIPPED" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  install(TARGETS ${name} DESTINATION ${CMAKE_INSTALL_BINDIR})

  set(static ${name}-static)
  add_executable(${static} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}>)
  set_target_properties(${static} PROPERTIES
    FACT_STATIC ON
    LINKER_LANGUAGE CXX
    JOB_POOL_LINK fact_static_link
    OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${FACT_STATIC_FOLDER}/bin)
  target_link_libraries(${static} PRIVATE ${ARG_LINK})
  target_link_options(${static} PRIVATE
    -fuse-ld=lld -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--as-needed -Wl,-s)
  if(ARG_SHIPPED)
    add_dependencies(fact-static-tools ${static})
  endif()
  if(ARG_COMPILER)
    fact_precompile_headers(${name})
    # Plug-ins find the compiler's own classes in the program that loads them.
    set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
    target_sources(${static} PRIVATE ${PROJECT_SOURCE_DIR}/tools/Common/StaticTool.cpp)
    target_link_libraries(${static} PRIVATE FactArchives)
  endif()
endfunction()
