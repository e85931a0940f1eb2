# `cmake --install` puts one libgradus for each x86-64 level where the loader picks: lib/ (v2), lib/glibc-hwcaps/x86-64-v3/, .../x86-64-v4/.
include(GNUInstallDirs)
set_target_properties(gradus-cli gradus-bench PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS gradus-cli gradus-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(folder core ops nn optim draw train study)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gradus FILES_MATCHING PATTERN "*.hpp")
endforeach()
if(GRADUS_LEVEL)
  foreach(level x86-64-v2 x86-64-v3 x86-64-v4)
    set(folder ${CMAKE_INSTALL_LIBDIR})
    if(NOT level STREQUAL "x86-64-v2")
      set(folder ${CMAKE_INSTALL_LIBDIR}/glibc-hwcaps/${level})
    endif()
    install(CODE "
      execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${CMAKE_BINARY_DIR}/levels/${level} -G \"${CMAKE_GENERATOR}\"
        -DCMAKE_BUILD_TYPE=Release -DGRADUS_LEVEL=${level} -DBUILD_TESTING=OFF -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
        COMMAND_ERROR_IS_FATAL ANY)
      execute_process(COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR}/levels/${level} --target gradus --parallel
        COMMAND_ERROR_IS_FATAL ANY)
      file(INSTALL ${CMAKE_BINARY_DIR}/levels/${level}/lib/libgradus.so DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${folder}\")")
  endforeach()
else()
  install(TARGETS gradus LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
