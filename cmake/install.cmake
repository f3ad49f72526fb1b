include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/unisono)
install(TARGETS unisono EXPORT unisonoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/unisono DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT unisonoTargets NAMESPACE unisono:: DESTINATION ${package_dir})
configure_package_config_file(cmake/unisonoConfig.cmake.in ${CMAKE_BINARY_DIR}/unisonoConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/unisonoConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/unisonoConfig.cmake ${CMAKE_BINARY_DIR}/unisonoConfigVersion.cmake
              cmake/FindOpenBLAS.cmake DESTINATION ${package_dir})
