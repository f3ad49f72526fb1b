# Gives the target OpenBLAS::OpenBLAS; Debian spreads the header and the library over one folder per threading variant.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_OPENBLAS QUIET openblas)
endif()
find_path(OPENBLAS_INCLUDE cblas.h HINTS ${PC_OPENBLAS_INCLUDE_DIRS} PATH_SUFFIXES openblas)
find_library(OPENBLAS_LIBRARY openblas HINTS ${PC_OPENBLAS_LIBRARY_DIRS})
mark_as_advanced(OPENBLAS_INCLUDE OPENBLAS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OPENBLAS_LIBRARY OPENBLAS_INCLUDE)
if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES IMPORTED_LOCATION ${OPENBLAS_LIBRARY}
                                                      INTERFACE_INCLUDE_DIRECTORIES ${OPENBLAS_INCLUDE})
endif()
