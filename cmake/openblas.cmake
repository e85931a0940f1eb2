# OpenBLAS in its OpenMP build, so that one thread runtime is in the process.
find_path(OPENBLAS_INCLUDE cblas.h NO_DEFAULT_PATH
  PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp /usr/include/x86_64-linux-gnu/openblas-openmp
        /usr/include/aarch64-linux-gnu/openblas-openmp)
find_library(OPENBLAS_LIBRARY NAMES openblas NO_DEFAULT_PATH
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp /usr/lib/x86_64-linux-gnu/openblas-openmp
        /usr/lib/aarch64-linux-gnu/openblas-openmp)
if(NOT OPENBLAS_INCLUDE OR NOT OPENBLAS_LIBRARY)
  message(FATAL_ERROR "OpenBLAS' OpenMP build is missing: apt-get install libopenblas-openmp-dev (or run `make deps`)")
endif()
add_library(gradus_openblas INTERFACE)
target_include_directories(gradus_openblas SYSTEM INTERFACE ${OPENBLAS_INCLUDE})
target_link_libraries(gradus_openblas INTERFACE ${OPENBLAS_LIBRARY})
