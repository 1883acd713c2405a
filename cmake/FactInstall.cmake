# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What find_package(FACT) finds, in the build tree and where it is installed.

include(CMakePackageConfigHelpers)
set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/FACT)

# The C interface of compiled models: a header, no code.
add_library(Library INTERFACE)
target_include_directories(Library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS Library EXPORT FACTLibraryTargets)
install(DIRECTORY include/fact DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.td")

set(exports FACTLibraryTargets)
if(FACT_BUILD_COMPILER)
  list(APPEND exports FACTCompilerTargets)
  foreach(folder include dialects/Fact/include dialects/Torch/include)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/${folder}/fact
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.inc")
  endforeach()
endif()
foreach(name IN LISTS exports)
  export(EXPORT ${name} NAMESPACE FACT:: FILE ${PROJECT_BINARY_DIR}/${name}.cmake)
  install(EXPORT ${name} NAMESPACE FACT:: DESTINATION ${destination})
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/FACTConfig.cmake.in
  ${PROJECT_BINARY_DIR}/FACTConfig.cmake INSTALL_DESTINATION ${destination})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/FACTConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/FACTConfig.cmake
              ${PROJECT_BINARY_DIR}/FACTConfigVersion.cmake
        DESTINATION ${destination})
