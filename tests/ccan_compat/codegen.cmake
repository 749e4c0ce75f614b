# Compiles codegen.cpp to assembly with CXX and the arguments after --, and fails unless adding and removing
# take as many instructions as the code written by hand, none of them a branch or a call.

cmake_minimum_required(VERSION 3.20)

set(command_line)
set(in_arguments FALSE)
foreach(i RANGE ${CMAKE_ARGC})
  if(in_arguments)
    list(APPEND command_line "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(in_arguments TRUE)
  endif()
endforeach()

set(source ${CMAKE_CURRENT_LIST_DIR}/codegen.cpp)
execute_process(
  COMMAND ${CXX} -std=c++20 -O2 -S ${source} -o - ${command_line}
  OUTPUT_VARIABLE assembly RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${source} does not compile")
endif()
# CMake would take these for its own syntax of lists.
string(REPLACE ";" " " assembly "${assembly}")
string(REPLACE "[" "(" assembly "${assembly}")
string(REPLACE "]" ")" assembly "${assembly}")
string(REPLACE "\n" ";" assembly "${assembly}")

# Instructions are the indented lines that are no directive; a function's are those between its label and the
# next one that is not local.
set(function "")
foreach(line IN LISTS assembly)
  if(line MATCHES "^_?((library|by_hand)_[a-z_]+):")
    set(function ${CMAKE_MATCH_1})
    list(APPEND functions ${function})
    set(count_${function} 0)
  elseif(line MATCHES "^[A-Za-z_]")
    set(function "")
  elseif(function AND line MATCHES "^[ \t]+([a-z][a-z0-9.]*)")
    set(mnemonic ${CMAKE_MATCH_1})
    math(EXPR count_${function} "${count_${function}} + 1")
    # x86 and 64-bit ARM.
    if(mnemonic MATCHES "^(j[a-z]+|callq?|b|bl|blr|b\\.[a-z]+|cbn?z|tbn?z)$")
      message(SEND_ERROR "${function} has a branch or a call: ${line}")
    endif()
  endif()
endforeach()

foreach(operation add add_tail add_after add_before del del_init)
  foreach(function library_${operation} by_hand_${operation})
    if(NOT function IN_LIST functions OR count_${function} LESS 4)
      message(FATAL_ERROR "No instructions found for ${function} in the assembly")
    endif()
  endforeach()
  set(ours ${count_library_${operation}})
  set(theirs ${count_by_hand_${operation}})
  set(found "list_${operation}: ${ours} instructions, ${theirs} by hand")
  if(ours EQUAL theirs)
    message(STATUS "${found}")
  else()
    message(SEND_ERROR "${found}")
  endif()
endforeach()
