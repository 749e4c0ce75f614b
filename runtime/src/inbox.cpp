#include "inbox.hpp"

namespace rouse::detail {

namespace {
void never(inbox_node&, held) noexcept {}
inbox_node shut_mark{never}; // its address says that the inbox takes nothing more
} // namespace

bool inbox::push(inbox_node& node) noexcept {
  inbox_node* head = head_.load(std::memory_order_acquire);
  do {
    if (head == &shut_mark) return false;
    node.next = head;
  } while (!head_.compare_exchange_weak(head, &node, std::memory_order_seq_cst, std::memory_order_acquire));
  return true;
}

void inbox::handle_all(inbox_node* newest, held h) noexcept {
  inbox_node* oldest = nullptr;
  while (newest) {
    inbox_node* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest) {
    inbox_node* next = oldest->next; // before handle(), which may destroy the node
    oldest->handle(*oldest, h);
    oldest = next;
  }
}

[[gnu::noinline]] void inbox::drain(held h) noexcept {
  handle_all(head_.exchange(nullptr, std::memory_order_seq_cst), h);
}

void inbox::shut(held h) noexcept { handle_all(head_.exchange(&shut_mark, std::memory_order_seq_cst), h); }

} // namespace rouse::detail
