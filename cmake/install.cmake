include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS unisono EXPORT unisonoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/unisono DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT unisonoTargets NAMESPACE unisono:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/unisono)
configure_package_config_file(cmake/unisonoConfig.cmake.in ${CMAKE_BINARY_DIR}/unisonoConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/unisono)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/unisonoConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/unisonoConfig.cmake ${CMAKE_BINARY_DIR}/unisonoConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/unisono)
