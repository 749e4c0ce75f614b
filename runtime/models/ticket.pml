/* ticket.pml: parking, and being made ready by exactly one of several.
 *
 * Thread A waits on a condition with a time limit, and then twice for something else. Thread B waits behind A
 * on the same condition. A timer that is never taken back, a notifier and a killer know one ticket each. An
 * `atomic` block is what one thread does without giving up the global lock.
 *
 * Lines that are a step carry "step N" (scripts/check_models --steps ticket prints them):
 *   step 1  park: look for a pending kill, take a new ticket and be parked, all in one step
 *   step 2  make ready: only with the ticket of this park; it is spent by that; says whether it was good
 *   step 3  notify: take the first waiter whose ticket was still good
 *   step 4  the resumed thread takes its waiter off the list and looks: the kill first, then the reason
 *   step 5  who was chosen by a notifier, but leaves for another reason, passes the choice on
 *
 * Asserted: nobody is made ready twice for one park, or by a ticket of an earlier park; no more waiters get a
 * notification than were notified. No hang: a notification ends some waiter's wait, a kill ends any wait.
 *
 * config SHARED: all of them
 * config ALONE: only the kill can end what A waits for
 *
 * mutation NO_TICKET (SHARED): step 2 tests only that the thread is parked
 * mutation NOT_SPENT (SHARED): step 2 leaves the ticket good
 * mutation TICKETS_REPEAT (SHARED): tickets are 1, 2, 1, 2, ...
 * mutation LOOK_THEN_PARK (ALONE): step 1 is two steps
 * mutation NOTIFY_HEAD (SHARED): step 3 takes the head of the list, good or not
 * mutation KEEP_CHOICE (SHARED): step 5 is left out
 * mutation PASS_UNCHOSEN (SHARED): step 5 is done by who was not chosen as well
 */
#define A 0
#define B 1

mtype = { none, notified, expired, killed, other };

byte last_ticket = 0;      /* of the VM; never reset */
byte ticket[2];            /* of the park a thread is in; 0 when it is not parked */
byte made_ready[2];        /* for this park */
mtype reason[2] = none;
bool linked[2], chosen[2]; /* the waiters of the condition; A is before B */
byte waiter_ticket[2];
bool kill = false, over[2], others = false;
byte notifications = 0, taken = 0;

inline park(t) {                                          /* step 1: a new ticket, and parked */
#ifdef TICKETS_REPEAT
  last_ticket = 1 + last_ticket % 2;
#else
  last_ticket++;
#endif
  made_ready[t] = 0; reason[t] = none;
  ticket[t] = last_ticket
}

inline make_ready(t, with, why, good) {                   /* step 2: only with the ticket of this park */
  good = false;
  if
#ifdef NO_TICKET
  :: ticket[t] != 0 ->
#else
  :: ticket[t] == with ->
#endif
#ifndef NOT_SPENT
     ticket[t] = 0;                                       /* step 2: it is spent by that */
#endif
     made_ready[t]++; assert(made_ready[t] == 1);
     reason[t] = why;
     good = true
  :: else
  fi
}

inline notify(good) {                                     /* step 3: the first whose ticket was still good */
  good = false;
  if
  :: linked[A] -> make_ready(A, waiter_ticket[A], notified, good); chosen[A] = chosen[A] || good
  :: else
  fi;
  if
#ifdef NOTIFY_HEAD
  :: !good && !linked[A] && linked[B] ->
#else
  :: !good && linked[B] ->
#endif
     make_ready(B, waiter_ticket[B], notified, good); chosen[B] = chosen[B] || good
  :: else
  fi
}

inline wait_on_condition(t) {
  park(t);
  waiter_ticket[t] = ticket[t];
  linked[t] = true
}

proctype thread_a() {
  byte n;
  bool good;
#ifdef LOOK_THEN_PARK
  if :: kill -> goto end :: else fi;
#endif
  atomic {
#ifndef LOOK_THEN_PARK
    if :: kill -> goto end :: else fi;                    /* step 1: look for a kill */
#endif
    wait_on_condition(A)
  };
  atomic {
    reason[A] != none ->
    linked[A] = false;                                    /* step 4: off the list, then look */
    if
    :: kill || reason[A] != notified ->
#ifndef KEEP_CHOICE
       if                                                 /* step 5: the choice is passed on */
#ifdef PASS_UNCHOSEN
       :: true -> notify(good)
#else
       :: chosen[A] -> notify(good)
#endif
       :: else
       fi
#endif
    :: else -> assert(reason[A] == notified); taken++
    fi;
    chosen[A] = false; good = false;
    if :: kill -> goto end :: else fi
  };
  others = true;
  do
  :: n < 2 ->
#ifdef LOOK_THEN_PARK
     if :: kill -> goto end :: else fi;
#endif
     atomic {
#ifndef LOOK_THEN_PARK
       if :: kill -> goto end :: else fi;
#endif
       park(A)
     };
     atomic { reason[A] != none -> assert(reason[A] == other || reason[A] == killed); n++ }
  :: else -> break
  od;
end:
  over[A] = true
}

proctype thread_b() {
  atomic { linked[A] || over[A] || others -> wait_on_condition(B) };
  atomic {
    reason[B] != none ->
    linked[B] = false;
    assert(reason[B] == notified);
    taken++;
    assert(taken <= notifications)
  };
  over[B] = true
}

#ifdef SHARED
/* Ends whatever A waits for after the condition. */
active proctype somebody() {
  bool good;
  do
  :: atomic { others && !linked[A] && ticket[A] != 0 -> make_ready(A, ticket[A], other, good); good = false }
  :: over[A] -> break
  od
}

active proctype timer() {
  byte old;
  bool good;
  if
  :: atomic { linked[A] -> old = waiter_ticket[A] }
  :: over[A] || others -> goto end
  fi;
  atomic { make_ready(A, old, expired, good); good = false; old = 0 };
end:
  skip
}

/* One notification when B waits; a second one only if A has really taken the first. */
active proctype notifier() {
  bool good;
  atomic { linked[B] -> notifications++; notify(good); good = false };
  if
  :: atomic { taken == 1 && !over[B] && linked[B] -> notifications++; notify(good); good = false }
  :: over[B]
  fi
}
#endif

active proctype killer() {
  bool good;
  if
  :: atomic {
       kill = true;
       if :: ticket[A] != 0 -> make_ready(A, ticket[A], killed, good); good = false :: else fi
     }
  :: over[A] -> skip
  fi
}

init {
  atomic {
    run thread_a();
#ifdef SHARED
    run thread_b()
#endif
  }
}
