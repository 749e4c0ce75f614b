// Each operation by the library, and once more as written by hand. codegen.cmake compares what the compiler
// makes of the two.

#include <ccan/list/list.h>

extern "C" {

void library_add(list_head* h, list_node* n) { list_add(h, n); }
void by_hand_add(list_head* h, list_node* n) {
  list_node* next = h->n.next;
  n->next = next;
  n->prev = &h->n;
  h->n.next = n;
  next->prev = n;
}

void library_add_tail(list_head* h, list_node* n) { list_add_tail(h, n); }
void by_hand_add_tail(list_head* h, list_node* n) {
  list_node* prev = h->n.prev;
  n->prev = prev;
  n->next = &h->n;
  h->n.prev = n;
  prev->next = n;
}

void library_add_after(list_head* h, list_node* p, list_node* n) { list_add_after(h, p, n); }
void by_hand_add_after(list_head*, list_node* p, list_node* n) {
  list_node* next = p->next;
  n->next = next;
  n->prev = p;
  p->next = n;
  next->prev = n;
}

void library_add_before(list_head* h, list_node* p, list_node* n) { list_add_before(h, p, n); }
void by_hand_add_before(list_head*, list_node* p, list_node* n) {
  list_node* prev = p->prev;
  n->prev = prev;
  n->next = p;
  p->prev = n;
  prev->next = n;
}

void library_del(list_node* n) { list_del(n); }
void by_hand_del(list_node* n) {
  list_node* next = n->next;
  list_node* prev = n->prev;
  prev->next = next;
  next->prev = prev;
}

void library_del_init(list_node* n) { list_del_init(n); }
void by_hand_del_init(list_node* n) {
  list_node* next = n->next;
  list_node* prev = n->prev;
  prev->next = next;
  next->prev = prev;
  n->next = n;
  n->prev = n;
}
}
