# The one place where flags are set and where libraries, tools and tests are declared.

add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # A precompiled header without times lets ccache find it, and all that uses it, in another checkout.
  add_compile_options(-Wno-unused-command-line-argument "SHELL:-Xclang -fno-pch-timestamp")
endif()
add_link_options(-Wl,--gc-sections)
if(EXISTS ${LLVM_TOOLS_BINARY_DIR}/ld.lld)
  add_link_options(-fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR})
endif()

if(TENON_SANITIZE)
  add_compile_options(-fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${TENON_SANITIZE})
else()
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

# tenon_library(NAME [MLIR] SRCS ... [DEPS ...] [TABLEGEN ...])
#   MLIR: the sources include MLIR headers. All libraries that do share one precompiled header, and all
#   others another.
#   TABLEGEN: generated-header targets to wait for.
function(tenon_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SRCS;DEPS;TABLEGEN" ${ARGN})
  if(ARG_SRCS)
    add_library(${name} STATIC ${ARG_SRCS})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS})
    tenon_use_library_pch(${name} ${ARG_MLIR})
    if(ARG_TABLEGEN)
      add_dependencies(${name} ${ARG_TABLEGEN})
    endif()
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# tenon_use_pch(NAME HEADER [LIBRARY ...]): one precompiled header, cmake/HEADER, of the libraries'
# headers, serves all that use it.
function(tenon_use_pch name header)
  string(REPLACE "." "_" shared tenon_${header}_pch)
  if(NOT TARGET ${shared})
    file(WRITE ${PROJECT_BINARY_DIR}/${shared}.cpp "")
    add_library(${shared} OBJECT ${PROJECT_BINARY_DIR}/${shared}.cpp)
    target_link_libraries(${shared} PRIVATE ${ARGN})
    target_precompile_headers(${shared} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header})
    if(header MATCHES "^Mlir")
      add_dependencies(${shared} TenonIrIncGen)
    endif()
  endif()
  target_precompile_headers(${name} REUSE_FROM ${shared})
endfunction()

# tenon_use_library_pch(NAME MLIR): the precompiled header of libraries and tools, with MLIR where the
# sources include it. Searched for undefined behaviour, those compile in two thirds of the time without
# optimisation; what bounds its own time (templates, the thread pool) needs it, and has no MLIR.
function(tenon_use_library_pch name mlir)
  if(mlir)
    if(NOT TARGET tenon_mlir_flags)
      add_library(tenon_mlir_flags INTERFACE)
      if(TENON_SANITIZE MATCHES "undefined")
        target_compile_options(tenon_mlir_flags INTERFACE -O0)
      endif()
    endif()
    target_compile_options(${name} PRIVATE $<TARGET_PROPERTY:tenon_mlir_flags,INTERFACE_COMPILE_OPTIONS>)
    tenon_use_pch(${name} MlirPch.h tenon_mlir_flags)
  else()
    tenon_use_pch(${name} BasePch.h)
  endif()
endfunction()

# tenon_tool(NAME [MLIR] SRCS ... DEPS ...): MLIR as for a library.
function(tenon_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  tenon_use_library_pch(${name} ${ARG_MLIR})
endfunction()

# Build the tests that carry the labels `sanitize` and `thread`.
add_custom_target(tenon_sanitized_tests)
add_custom_target(tenon_thread_tests)

# tenon_test(NAME [MLIR] SRCS ... DEPS ... [LABELS ...]): a GoogleTest binary; each case is one ctest
# entry. The label `sanitize` puts it into the subset that runs under AddressSanitizer and
# UndefinedBehaviorSanitizer, `thread` into that of ThreadSanitizer; `gpu` says that it needs a GPU:
# then the binary is one entry, which reports its cases itself (reports/NAME.xml in the build folder),
# since a process for each of some thousands that are only skipped takes longer than all other tests.
# TENON_TEST_DATA points at tests/data, TENON_TEST_BUILD at the build folder.
function(tenon_test name)
  cmake_parse_arguments(ARG "MLIR" "" "SRCS;DEPS;LABELS" ${ARGN})
  if(NOT TENON_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SRCS})
  if(NOT TARGET tenon_test_flags)
    add_library(tenon_test_flags INTERFACE)
    target_link_libraries(tenon_test_flags INTERFACE GTest::gmock)
    # Tests are not optimised and not searched for undefined behaviour, whatever is done to what they
    # test: they compile in half the time.
    target_compile_options(tenon_test_flags INTERFACE -O0)
    if(TENON_SANITIZE MATCHES "undefined")
      target_compile_options(tenon_test_flags INTERFACE -fno-sanitize=undefined,fuzzer-no-link)
    endif()
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} tenon_test_flags GTest::gtest_main)
  set(header TestPch.h)
  if(ARG_MLIR)
    set(header MlirTestPch.h)
  endif()
  tenon_use_pch(${name} ${header} tenon_test_flags)
  target_compile_definitions(${name} PRIVATE
    TENON_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" TENON_TEST_BUILD="${PROJECT_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if("sanitize" IN_LIST ARG_LABELS)
    add_dependencies(tenon_sanitized_tests ${name})
  endif()
  if("thread" IN_LIST ARG_LABELS)
    add_dependencies(tenon_thread_tests ${name})
  endif()
  # LLVM's allocators poison memory in inlined code that the packaged archives know nothing of.
  set(properties ENVIRONMENT "ASAN_OPTIONS=allow_user_poisoning=0")
  if(ARG_LABELS)
    list(JOIN ARG_LABELS "-" labels) # one value; `ctest -L thread` finds `sanitize-thread`
    list(APPEND properties LABELS "${labels}")
  endif()
  if("gpu" IN_LIST ARG_LABELS)
    add_test(NAME ${name} COMMAND ${name} --gtest_output=xml:${PROJECT_BINARY_DIR}/reports/${name}.xml)
    set_tests_properties(${name} PROPERTIES TIMEOUT 7200 ${properties})
  else()
    include(GoogleTest)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  endif()
endfunction()

# tenon_carry_benchmark(TARGET): Google Benchmark is packaged as a shared library alone. A copy of it
# beside the program serves where the package is not installed.
function(tenon_carry_benchmark target)
  set_target_properties(${target} PROPERTIES BUILD_RPATH "$ORIGIN")
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:benchmark::benchmark>
      $<TARGET_FILE_DIR:${target}>/$<TARGET_SONAME_FILE_NAME:benchmark::benchmark>
    VERBATIM)
endfunction()

# tenon_embed_cubin(TARGET SOURCE SYMBOL ARCH): compiles a .cu file for one architecture (sm_90a)
# with TENON_NVCC and gives TARGET a header SYMBOL.h with its bytes: `unsigned char SYMBOL[]`.
function(tenon_embed_cubin target source symbol arch)
  string(REPLACE "sm_" "compute_" virtual ${arch})
  set(cubin ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cubin)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.h)
  add_custom_command(OUTPUT ${header}
    COMMAND ${TENON_NVCC} -cubin -gencode=arch=${virtual},code=${arch} -O3 -std=c++17
      -o ${cubin} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    COMMAND ${TENON_BIN2C} --name ${symbol} ${cubin} > ${header}
    DEPENDS ${source} VERBATIM)
  target_sources(${target} PRIVATE ${header})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# tenon_list(OUT FUNCTION f TYPE T INCLUDE header NAMESPACE n [ENTRIES e] [SUFFIX s] [LOWER] FILES ...):
# writes a source file that defines `std::span<const T* const> n::f()`, declared in `header`. The list
# has an entry for each of FILES, in their order: its name with a small first letter (LOWER: with
# small letters alone) and the suffix, in the namespace `e` (n where none is given): `GptNeox.cpp`
# defines `gptNeoxArchitecture` where the suffix is Architecture. A file is thus all that an entry
# needs. OUT becomes the path.
function(tenon_list out)
  cmake_parse_arguments(ARG "LOWER" "FUNCTION;TYPE;INCLUDE;NAMESPACE;ENTRIES;SUFFIX" "FILES" ${ARGN})
  if(NOT ARG_ENTRIES)
    set(ARG_ENTRIES ${ARG_NAMESPACE})
  endif()
  set(declarations "")
  set(entries "")
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(name ${file} NAME_WE)
    string(TOLOWER ${name} lower)
    if(ARG_LOWER)
      set(name ${lower})
    else()
      string(SUBSTRING ${lower} 0 1 first)
      string(SUBSTRING ${name} 1 -1 rest)
      set(name ${first}${rest})
    endif()
    string(APPEND declarations "extern const ${ARG_TYPE} ${name}${ARG_SUFFIX};\n")
    string(APPEND entries "      &${ARG_ENTRIES}::${name}${ARG_SUFFIX},\n")
  endforeach()
  set(path ${CMAKE_CURRENT_BINARY_DIR}/${ARG_FUNCTION}.cpp)
  file(CONFIGURE OUTPUT ${path} @ONLY CONTENT
"// Generated by tenon_list (cmake/TenonTargets.cmake).
#include <span>

#include \"${ARG_INCLUDE}\"

namespace ${ARG_ENTRIES} {
${declarations}} // namespace ${ARG_ENTRIES}

namespace ${ARG_NAMESPACE} {

std::span<const ${ARG_TYPE}* const> ${ARG_FUNCTION}() {
  static constexpr const ${ARG_TYPE}* list[] = {
${entries}  };
  return list;
}

} // namespace ${ARG_NAMESPACE}
")
  set(${out} ${path} PARENT_SCOPE)
endfunction()

# tenon_definitions(OUT FUNCTION f TYPE T INCLUDE header NAMESPACE n ENTRIES e FILES ...): the same list
# with an entry for each line `extern const T name = ...` or `extern constexpr T name = ...` of FILES, in
# the namespace `e`, in the order of the files. A file defines as many entries as it likes, or none. The
# build writes the list anew where they change.
function(tenon_definitions out)
  cmake_parse_arguments(ARG "" "FUNCTION;TYPE;INCLUDE;NAMESPACE;ENTRIES" "FILES" ${ARGN})
  set(path ${CMAKE_CURRENT_BINARY_DIR}/${ARG_FUNCTION}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/ListDefinitions.cmake)
  add_custom_command(OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} -DOUT=${path} -DFUNCTION=${ARG_FUNCTION} -DTYPE=${ARG_TYPE}
            -DINCLUDE=${ARG_INCLUDE} -DNAMESPACE=${ARG_NAMESPACE} -DENTRIES=${ARG_ENTRIES}
            "-DFILES=${ARG_FILES}" -P ${script}
    DEPENDS ${ARG_FILES} ${script}
    COMMENT "Listing ${ARG_FUNCTION}" VERBATIM)
  set(${out} ${path} PARENT_SCOPE)
endfunction()
