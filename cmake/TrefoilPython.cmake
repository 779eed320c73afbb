# Optional: the Python package, with Debian's pybind11.
set(TREFOIL_PYTHON OFF CACHE STRING
    "The Python package: ON, OFF, or AUTO (if pybind11 and Python's development files are installed)")
if(NOT TREFOIL_PYTHON STREQUAL OFF AND NOT TREFOIL_SANITIZE)
  find_package(Python 3.11 QUIET COMPONENTS Interpreter Development.Module)
  if(Python_FOUND)
    find_package(pybind11 2.10 QUIET CONFIG)
  endif()
endif()
if(pybind11_FOUND)
  # A module is a shared library. Nobody replaces a function of the objects in it, so that calls are inlined as in a
  # program.
  foreach(part base net mpc protocols dp data ml jobs runtime api)
    set_target_properties(trefoil_${part} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(trefoil_${part} PRIVATE -fno-semantic-interposition)
  endforeach()
  add_subdirectory(python)
elseif(TREFOIL_PYTHON STREQUAL ON)
  message(FATAL_ERROR "TREFOIL_PYTHON is ON, but pybind11 or Python's development files were not found: install "
                      "pybind11-dev and python3-dev (scripts/setup)")
elseif(TREFOIL_PYTHON STREQUAL AUTO)
  message(NOTICE "The Python package is not built: pybind11 or Python's development files were not found")
endif()
