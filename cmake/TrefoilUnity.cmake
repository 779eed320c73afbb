# trefoil_unity(DIRECTORY): where CMAKE_UNITY_BUILD is on, sources of one program or library are compiled together, as
# many as make up trefoil_unity_most bytes, in every one declared in DIRECTORY and below. Reading headers and making
# what they define is nearly all of the time of compiling each source by itself (docs/adr/0026-unity-builds.md).
# Sources of one library must therefore not define one name twice in unnamed namespaces; those that include themselves
# again for each instruction set say SKIP_UNITY_BUILD_INCLUSION.
set(trefoil_unity_most 320000)

function(trefoil_unity directory)
  get_property(below DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS below)
    trefoil_unity(${folder})
  endforeach()
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(sources ${target} SOURCES)
    if(type MATCHES "EXECUTABLE|STATIC_LIBRARY|MODULE_LIBRARY" AND sources)
      trefoil_unity_groups(${target} ${directory} ${sources})
    endif()
  endforeach()
endfunction()

function(trefoil_unity_groups target directory)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  set(group 0)
  set(bytes 0)
  foreach(source IN LISTS ARGN)
    get_source_file_property(alone ${source} TARGET_DIRECTORY ${target} SKIP_UNITY_BUILD_INCLUSION)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} NORMALIZE)
    if(alone OR NOT EXISTS ${source})  # objects of another target
      continue()
    endif()
    file(SIZE ${source} size)
    math(EXPR bytes "${bytes} + ${size}")
    if(bytes GREATER trefoil_unity_most)
      math(EXPR group "${group} + 1")
      set(bytes ${size})
    endif()
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
