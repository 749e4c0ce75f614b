# One package test: installs Rouse if the way is find_package, then configures, builds and runs the consumer, all of it in
# work_dir and from nothing.
cmake_minimum_required(VERSION 3.20)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work_dir})
if(way STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${rouse_build_dir} --prefix ${work_dir}/prefix --config "${config}")
  set(rouse_location -D rouse_ROOT=${work_dir}/prefix)
else()
  set(rouse_location -D CONSUMER_ROUSE_SOURCE_DIR=${rouse_source_dir})
endif()

set(jobs)
if(NOT DEFINED ENV{CMAKE_BUILD_PARALLEL_LEVEL})
  cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
  set(jobs --parallel ${processors})
endif()

run(${CMAKE_COMMAND} -C ${consumer_cache} -G ${generator} -D CMAKE_BUILD_TYPE=${config} ${rouse_location}
  -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work_dir}/build)
run(${CMAKE_COMMAND} --build ${work_dir}/build --config "${config}" ${jobs})
run(${CMAKE_COMMAND} --build ${work_dir}/build --config "${config}" --target run)
