# vm_thread_close in Ruby, as CRuby's own benchmark has it but for the number of pipes: threads sleep, and pipes are
# made and closed. Prints one line of JSON, which rouse_report reads with --peer.
#
# Usage: ruby vm_thread_close.rb [ASLEEP [PIPES]]

require 'json'

asleep = Integer(ARGV[0] || 1000)
pipes = Integer(ARGV[1] || 100_000)

asleep.times { Thread.new { sleep } }
sleep 0.1 # until they do

start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
pipes.times { IO.pipe.each(&:close) }
seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start

puts JSON.generate(name: "#{RUBY_ENGINE} #{RUBY_VERSION}", asleep: asleep, pipes: pipes, seconds: seconds)
