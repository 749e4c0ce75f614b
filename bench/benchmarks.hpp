#pragma once
// The benchmarks, one function for each file: it registers what the file measures. main() calls them all, in
// the order in which the output is to be read.

namespace bench {

void add_context_jump();
void add_throw_catch();
void add_yield();
void add_spawn_join();
void add_spawn_blocked();
void add_mutex_hand_over();
void add_vm_thread_close();
void add_close_wake();
void add_close_wake_distinct();
void add_pipe_ping_pong();
void add_io_close();
void add_io_pipe_rw();
void add_vm_thread();
void add_vm_thread_sync();

} // namespace bench
