# Fails unless the file `readme` has the files `source` and `output` as code blocks, to the letter.
cmake_minimum_required(VERSION 3.21)

function(require_block language file)
  file(READ ${readme} page)
  file(READ ${file} text)
  string(FIND "${page}" "\n```${language}\n${text}```\n" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${readme} has no ${language} block that is the same as ${file}")
  endif()
endfunction()

require_block(cpp ${source})
require_block(text ${output})
