# Runs a program and fails unless it ends well and prints exactly what the file `expected` has.
cmake_minimum_required(VERSION 3.21)

execute_process(COMMAND ${program} OUTPUT_VARIABLE printed RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${program} ended with ${result}; it printed:\n${printed}")
endif()
file(READ ${expected} wanted)
if(NOT "${printed}" STREQUAL "${wanted}")
  message(FATAL_ERROR "${program} printed:\n${printed}\n${expected} has:\n${wanted}")
endif()
