add_library(trefoil_options INTERFACE)
# g++ 12 takes the joining of a literal and a std::string for an overlap (GCC bug 105651). Warnings that the optimiser
# gives depend on what it inlined, so that another processor or grouping of files brings new ones: they end no build.
set(optimiser_warnings array-bounds dangling-pointer free-nonheap-object maybe-uninitialized nonnull stringop-overflow
  stringop-overread)
list(TRANSFORM optimiser_warnings PREPEND -Wno-error=)
target_compile_options(trefoil_options INTERFACE
  -Wall -Wextra -Wconversion $<$<CXX_COMPILER_ID:GNU>:-Werror;-Wno-restrict;${optimiser_warnings}>)
if(CMAKE_UNITY_BUILD)
  # Each source is a file that a unit includes, and would be taken for a header whose class has members of types that only
  # that file knows.
  target_compile_options(trefoil_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
target_include_directories(trefoil_options INTERFACE ${PROJECT_SOURCE_DIR})
# What steers, reports and tests is optimised less than what computes, which saves a third of the time of compiling it.
add_compile_options($<$<CONFIG:Release>:-O1>)

set(TREFOIL_SANITIZE "" CACHE STRING "Sanitizers: those of the compiler, as address,bounds or thread; with clang also fuzzer-no-link")
if(TREFOIL_SANITIZE)
  # Everything, the test framework's headers included, is compiled with the sanitizer.
  add_compile_options(-fsanitize=${TREFOIL_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TREFOIL_SANITIZE})
  # g++ 12 takes for uninitialised what its own instrumentation moves about.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(NOT TREFOIL_SANITIZE STREQUAL thread)
    add_compile_options(-fno-sanitize-recover=all)
  endif()
endif()

# trefoil_skip_thread_sanitizer(SOURCE ...): sources of the current folder that start no thread and compute on what their
# caller hands over; with the thread sanitizer they took most of the time. It does not see what they read and write:
# that callers on several threads hand over parts that are apart is for the tests of their results to find.
function(trefoil_skip_thread_sanitizer)
  if(TREFOIL_SANITIZE STREQUAL thread)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -fno-sanitize=thread SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# trefoil_library(NAME [COMPUTES] SOURCES a.cpp ... DEPENDS target ...): one library per folder; COMPUTES: users wait for
# what it does. The link direction is the rule of layers (docs/adr/0001-layers-and-one-ring.md): a library that is not in
# DEPENDS, directly or through one that is, does not link.
function(trefoil_library name)
  cmake_parse_arguments(ARG "COMPUTES" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(trefoil_${name} STATIC ${ARG_SOURCES})
  add_library(trefoil::${name} ALIAS trefoil_${name})
  target_link_libraries(trefoil_${name} PUBLIC ${ARG_DEPENDS} PRIVATE trefoil_options)
  target_include_directories(trefoil_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  if(ARG_COMPUTES)
    target_compile_options(trefoil_${name} PRIVATE $<$<CONFIG:Release>:-O3>)
  endif()
endfunction()
