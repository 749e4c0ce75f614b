# From three rounds of known figures: medians in the table, ratios within a round, limits named, and a page that needs
# no other file.

cmake_minimum_required(VERSION 3.21)
file(REMOVE_RECURSE ${OUT})
execute_process(
  COMMAND ${REPORT} --out ${OUT} ${SOURCE}/round_1.json ${SOURCE}/round_2.json ${SOURCE}/round_3.json
          --peer ${SOURCE}/peer.jsonl
  OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "rouse_report ended with ${status}: ${printed}")
endif()

function(expect pattern)
  if(NOT printed MATCHES "${pattern}")
    message(SEND_ERROR "nothing like '${pattern}' in what was printed:\n${printed}")
  endif()
endfunction()
expect("list of living threads \\(theirs: trunk\\) +4\\.276 +1\\.00 +1\\.100 +1\\.00\n")
expect("list of waiting threads \\(theirs: after\\) +3\\.018 +1\\.42 +0\\.440 +2\\.50\n")
expect("list in each stream \\(Rouse\\) +0\\.220 +4\\.76\n")
expect("bare system calls +0\\.220 +5\\.00\n")
expect("ruby 3\\.1\\.2, installed here +1\\.600 +0\\.62\n")
expect("costs 2\\.20 µs with no other thread")
expect("1\\.05 times what the same")
expect("waiting_list/asleep:0/blocked:10000: descriptor limit: only 500 threads blocked")
expect("living_hash/asleep:0/blocked:10000: too few")
expect("report/index\\.html")

foreach(file vm_thread_close.svg vm_thread_close.gp index.html)
  if(NOT EXISTS ${OUT}/${file})
    message(SEND_ERROR "${file} was not written")
  endif()
endforeach()
file(READ ${OUT}/index.html page)
if(NOT page MATCHES "<svg")
  message(SEND_ERROR "the page has no picture in it")
endif()
if(page MATCHES "(src|href)=[\"'][^#]")
  message(SEND_ERROR "the page needs another file: ${CMAKE_MATCH_0}")
endif()
