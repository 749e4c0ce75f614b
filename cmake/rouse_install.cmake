# Install rules and the CMake package: find_package(rouse CONFIG) gives rouse::rouse and rouse::ccan_compat.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(rouse_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rouse)

install(TARGETS rouse ccan_compat EXPORT rouse-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY runtime/include/ io/include/ DESTINATION include FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ccan_compat/include/ DESTINATION include/ccan_compat)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT rouse-targets NAMESPACE rouse:: DESTINATION ${rouse_package_dir})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/rouse-config.cmake.in ${PROJECT_BINARY_DIR}/rouse-config.cmake
  INSTALL_DESTINATION ${rouse_package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rouse-config-version.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/rouse-config.cmake ${PROJECT_BINARY_DIR}/rouse-config-version.cmake
  DESTINATION ${rouse_package_dir})
