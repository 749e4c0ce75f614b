# Warnings and sanitizers. The sanitizers go to every target of the build, since a part that lacks them hides reports.

function(rouse_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
    -Woverloaded-virtual -Wcast-align -Wnull-dereference -Wextra-semi)
endfunction()

if(ROUSE_SANITIZE STREQUAL "address-undefined")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(ROUSE_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(ROUSE_SANITIZE)
  message(FATAL_ERROR "ROUSE_SANITIZE is '${ROUSE_SANITIZE}'; it takes address-undefined, thread or nothing")
endif()
