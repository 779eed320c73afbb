# What `cmake --install` puts where: the program (component "program"), and the library that others build on (component
# "library"; docs/howto/embed.md).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One archive of all that the library is made of: who links it need not know its layers, or their order.
set(objects "")
foreach(part base net mpc protocols dp data ml jobs runtime api)
  list(APPEND objects $<TARGET_OBJECTS:trefoil_${part}>)
endforeach()
add_library(trefoil_archive STATIC ${objects})
set_target_properties(trefoil_archive PROPERTIES OUTPUT_NAME trefoil EXPORT_NAME trefoil LINKER_LANGUAGE CXX)
target_compile_features(trefoil_archive INTERFACE cxx_std_20)
target_include_directories(trefoil_archive INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(trefoil_archive
  PUBLIC Eigen3::Eigen
  PRIVATE Threads::Threads OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB spdlog::spdlog PkgConfig::SODIUM PkgConfig::FFTW3
          PkgConfig::FFTW3F PkgConfig::HWY PkgConfig::LIBZIP PkgConfig::SQLITE3)
set(TREFOIL_OPENCV_LINK "")
if(TARGET trefoil_opencv)
  target_link_libraries(trefoil_archive PRIVATE ${OPENCV_DNN} ${OPENCV_CORE})
  set(TREFOIL_OPENCV_LINK " -lopencv_dnn -lopencv_core")
endif()
set(TREFOIL_IMAGES_LINK "")
set(TREFOIL_IMAGES_DEPENDENCY "")
if(TARGET PkgConfig::IMAGES)
  target_link_libraries(trefoil_archive PRIVATE png turbojpeg)
  set(TREFOIL_IMAGES_LINK " -lpng -lturbojpeg")
  set(TREFOIL_IMAGES_DEPENDENCY "pkg_check_modules(IMAGES REQUIRED QUIET libpng libturbojpeg)")
endif()
set(TREFOIL_POSTGRES_LINK "")
if(TARGET PkgConfig::LIBPQ)
  target_link_libraries(trefoil_archive PRIVATE pq)
  set(TREFOIL_POSTGRES_LINK " -lpq")
endif()

set(TREFOIL_MPI_LINK "")
if(TARGET PkgConfig::MPI)
  target_link_libraries(trefoil_archive PRIVATE ${MPI_LDFLAGS})
  list(JOIN MPI_LDFLAGS " " TREFOIL_MPI_LINK)
  string(PREPEND TREFOIL_MPI_LINK " ")
endif()

install(TARGETS trefoil RUNTIME COMPONENT program)
install(TARGETS trefoil_archive EXPORT TrefoilTargets ARCHIVE COMPONENT library)
set(headers error job privacy protocols run session share training trefoil version)
list(TRANSFORM headers REPLACE "(.+)" "include/trefoil/\\1.h")
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trefoil COMPONENT library)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Trefoil)
install(EXPORT TrefoilTargets NAMESPACE Trefoil:: DESTINATION ${package_dir} COMPONENT library)
configure_package_config_file(cmake/TrefoilConfig.cmake.in ${CMAKE_BINARY_DIR}/TrefoilConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TrefoilConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TrefoilConfig.cmake ${CMAKE_BINARY_DIR}/TrefoilConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT library)

# The prefix may be another one when it is installed, so it is found from where the file lies.
file(RELATIVE_PATH TREFOIL_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/trefoil.pc.in ${CMAKE_BINARY_DIR}/trefoil.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/trefoil.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
