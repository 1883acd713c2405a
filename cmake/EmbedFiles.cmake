# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The script behind fact_embed_files.
set(entries "")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH path "${BASE}" "${file}")
  file(READ "${file}" text)
  # Pieces below the length that compilers must accept for one literal.
  string(LENGTH "${text}" length)
  set(pieces "")
  set(offset 0)
  while(offset LESS length)
    string(SUBSTRING "${text}" ${offset} 8000 piece)
    string(APPEND pieces "R\"__fact__(${piece})__fact__\"\n")
    math(EXPR offset "${offset} + 8000")
  endwhile()
  string(APPEND entries "    {llvm::StringLiteral(\"${path}\"),\n     llvm::StringLiteral(${pieces})},\n")
endforeach()
file(WRITE "${OUTPUT}.tmp" "// Generated from files of the source tree.
#pragma once
#include \"llvm/ADT/ArrayRef.h\"
#include \"llvm/ADT/StringRef.h\"
#include <utility>

inline llvm::ArrayRef<std::pair<llvm::StringLiteral, llvm::StringLiteral>> ${NAME}() {
  static const std::pair<llvm::StringLiteral, llvm::StringLiteral> files[] = {
${entries}  };
  return files;
}
")
file(RENAME "${OUTPUT}.tmp" "${OUTPUT}")
