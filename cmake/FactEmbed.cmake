# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# fact_embed_files(OUTPUT header NAME function BASE folder FILES files...)
#
# Writes a header that defines
#   inline llvm::ArrayRef<std::pair<llvm::StringLiteral, llvm::StringLiteral>> NAME();
# with the path of each file relative to BASE and its text, so that the tools
# need no data files beside them.
function(fact_embed_files)
  cmake_parse_arguments(ARG "" "OUTPUT;NAME;BASE" "FILES" ${ARGN})
  add_custom_command(
    OUTPUT ${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${ARG_OUTPUT} -DNAME=${ARG_NAME} -DBASE=${ARG_BASE}
            "-DFILES=${ARG_FILES}" -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${ARG_FILES} ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    VERBATIM)
endfunction()
