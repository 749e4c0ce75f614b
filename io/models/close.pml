/* close.pml: closing a stream while other threads use it.
 *
 * One stream on one descriptor number. Threads: up to two users of the stream (readers, or writers that take
 * turns), up to three closers. Around them: a killer, a timer, a poller that keeps a harvested event for as
 * long as it likes, the peer, and a stranger who opens something and gets the same number as soon as it is
 * free. An `atomic` block is what one thread does without giving up the global lock; threads switch between
 * blocks only. Steps 5 and 6 are three blocks, so that close(2) may also be called without the lock. There is
 * no flush yet; its place is kept.
 *
 * Lines that are a step of the protocol carry "step N" (scripts/check_models --steps close prints them):
 *   step 0  the first look of an operation: the stream is open, and the operation counts as a user from here
 *   step 1  open becomes closing; who finds closing waits until closed, and is not a user
 *   step 2  every waiter is told: made ready if its ticket is still good; it will find "closing"
 *   step 3  the closer waits until no use but its own is left
 *   step 4  the flush, as the only user
 *   step 5  out of the poller, fd = -1
 *   step 6  close(2), once; then closed, and the waiting closers are woken
 *   step 7  interrupted in 3: a closer that waits inherits; if there is none, the closer withdraws
 *   step 8  an operation ends: it wakes the closer, or does 5 and 6 if there is none
 *   step 9  the look before a wait and after it: kill, stream closing, the reason; then the descriptor
 *
 * Asserted: no system call on a number that is not ours; close(2) once; every waiter gets exactly one result,
 * which is "killed" if a kill is pending and else "closed" if it was told; after step 2 no waiter of the
 * stream is still parked; a stale event reaches nobody; no later operation of a thread sees an error or a
 * time-out of an earlier one; the closer is the only user from step 4 on; the bytes of one write are
 * contiguous; a close that waits and is not interrupted returns after the flush. No hang: all threads end,
 * and then the stream is closed.
 *
 * config READERS: two readers, one with a time limit; data or an empty event; two closers; one kill
 * config WRITERS: two writers that take turns, a peer that makes room; two closers; three kills
 * config REUSE: one reader, a stale event, the number re-used; two closers, one inside an operation
 * config HEIRS: one reader, three closers, all of which may be killed
 *
 * mutation NO_FIRST_LOOK (REUSE): step 0 does not look whether the stream is open
 * mutation LATE_CLOSING (READERS): the state becomes closing in step 5 instead of step 1
 * mutation CLOSER_IS_USER (READERS): a closer that waits for another one counts as a user
 * mutation OWN_USE_WAITS (REUSE): who finds closing waits although its own thread owns a use
 * mutation NO_TELLING (READERS): step 2 is left out
 * mutation SKIP_QUEUED (WRITERS): step 2 forgets the writers that are queued for their turn
 * mutation ERROR_IN_THREAD (READERS): step 2 leaves the error with the thread instead of the operation
 * mutation CLOSER_UNLINKS (READERS): step 2 takes the waiters off the list, as the resumed thread does
 * mutation NO_WAIT (READERS): step 3 does not wait for the users
 * mutation OWN_USE_COUNTS (REUSE): step 3 waits for the closer's own use as well
 * mutation KILL_AT_ZERO (HEIRS): step 3 heeds a kill although no user is left
 * mutation NO_HEIR (HEIRS): step 7: a closer that is interrupted withdraws although another one waits
 * mutation HEIR_UNNAMED (HEIRS): step 7: the heir becomes the closer when it runs, not when it is chosen
 * mutation HEIR_LEAVES (HEIRS): step 7: a closer that was chosen, but then killed, just leaves
 * mutation NO_LAST_USER (HEIRS): step 8: the last user does not do 5 and 6 for a closer that withdrew
 * mutation EVERY_LAST_USER (READERS): step 8: the last user does 5 and 6 although there is a closer
 * mutation LAST_USER_UNNAMED (HEIRS): step 8: the last user does 5 and 6 without being the closer meanwhile
 * mutation NO_WAKE_CLOSER (READERS): step 8: the last user does not wake the closer
 * mutation STAY_IN_POLLER (REUSE): step 5 leaves the stream in the poller's table
 * mutation NO_GENERATION (REUSE): events carry the number only, no generation
 * mutation POLLER_LAST (REUSE): step 5 comes after step 6
 * mutation CLOSE_AGAIN (REUSE): step 6 repeats close(2) after EINTR
 * mutation NO_WAKE_CLOSERS (READERS): step 6 does not wake the closers that wait
 * mutation NO_LOOK (READERS): step 9 does not look at the stream
 * mutation NO_LOOK_BEFORE_WAIT (REUSE): step 9 is left out between the attempt and the wait
 * mutation KILL_LAST (READERS): step 9 looks at the kill after the stream
 * mutation REASON_FIRST (READERS): step 9 looks at the reason before the stream
 * mutation OWN_NO_LOOK (REUSE): an operation that calls out does not look when it is back
 * mutation NO_TICKET (READERS): the timer tests only that the thread is parked
 * mutation NO_TURN (WRITERS): a writer does not wait for its turn
 * mutation KEEP_TURN (WRITERS): a writer that got the turn, but leaves for kill or close, keeps it
 */
#define U0 0 /* users of the stream */
#define U1 1
#define C0 2 /* closers */
#define C1 3
#define C2 4
#define S 5  /* the stranger's reader */
#define THREADS 6
#define NOBODY 9

mtype = { open, closing, closed };
mtype = { none, done, closed_error, closed_stream, killed, timed_out };
mtype = { event, expired, interrupted };

#ifdef LARGE
#define KILLS 2
#else
#define KILLS 1
#endif

/* the stream */
mtype state = open;
byte users = 0;          /* operations between their first look and the end of their scope */
byte closer = NOBODY;    /* the thread that steps 3 to 6 belong to, until the stream is closed */
bool fd_set = true;      /* false is fd = -1 */
bool given_up = false;   /* the last user does 5 and 6: there is no flush */
bool flushed = false;
byte turn = NOBODY;      /* the writer whose turn it is */

/* the threads */
bool parked[THREADS], kill[THREADS];
bool linked[THREADS];    /* on a list of the stream, as a waiter, or queued for its turn */
bool queued[THREADS];
bool waits[THREADS];     /* on the list of closers that wait for another one's close */
bool owns[THREADS];      /* an operation of this thread is on its stack below close() */
bool told[THREADS];      /* only for the assertions: step 2 has met this waiter */
byte ticket = 0;         /* of U0, the one with a time limit */
mtype reason[THREADS] = none, result[THREADS] = none;

/* the kernel and the poller's table */
#define OURS 1
#define STRANGERS 2
byte number = OURS;      /* whose the descriptor number is; NOBODY is a free one */
byte entry = OURS;       /* whose stream the table has for the number */
byte generation = 1;
byte data = 0, room = 1;
byte mid_write = NOBODY; /* whose write is half out */

#ifdef ERROR_IN_THREAD
bool thread_error[THREADS];
#endif

#define touch assert(fd_set && number == OURS)
#define could_inherit(t) (waits[t] && parked[t])
#define only_user(t) (users == (owns[t] -> 1 : 0))

inline park(t) { if :: t == U0 -> ticket++ :: else fi; parked[t] = true }
inline make_ready(t, why) { if :: parked[t] -> parked[t] = false; reason[t] = why :: else fi }
inline unlink(t) { assert(linked[t]); linked[t] = false } /* only the resumed thread does it */
inline link_and_park(t) { linked[t] = true; told[t] = false; park(t) }
inline ends_with(t, r) { assert(result[t] == none); result[t] = r }

/* Steps 5 and 6, in the scope of whoever is the last; nothing interrupts them. */
inline finish(t) {
#ifdef POLLER_LAST
  atomic { assert(number == OURS); number = NOBODY };
#endif
  atomic {                                                /* step 5: out of the poller, fd = -1 */
#ifdef LATE_CLOSING
    state = closing;
#endif
    assert(state == closing && only_user(t) && !linked[U0] && !linked[U1]);
#ifndef STAY_IN_POLLER
    assert(entry == OURS);
    entry = NOBODY; generation++;
#endif
    fd_set = false
  };
#ifndef POLLER_LAST
  atomic { assert(number == OURS); number = NOBODY };     /* step 6: close(2), perhaps without the lock */
#endif
#ifdef CLOSE_AGAIN
  if :: atomic { true -> assert(number == OURS); number = NOBODY } :: true fi;
#endif
  atomic {
    state = closed;                                       /* step 6: closed, the waiting closers are woken */
#ifndef NO_WAKE_CLOSERS
    if :: waits[C0] -> make_ready(C0, event) :: else fi;
    if :: waits[C1] -> make_ready(C1, event) :: else fi;
    if :: waits[C2] -> make_ready(C2, event) :: else fi
#endif
  }
}

/* The end of an operation's scope. `last`: the caller does 5 and 6 before it goes on. */
inline leave(t, last) {                                   /* step 8: wake the closer, or be the last user */
  users--;
  last = false;
  if
#ifndef NO_WAKE_CLOSER
  :: state == closing && closer != NOBODY && only_user(closer) ->
     make_ready(closer, event);
#ifdef EVERY_LAST_USER
     last = true
#endif
#endif
#ifndef NO_LAST_USER
  :: state == closing && closer == NOBODY && users == 0 ->
#ifndef LAST_USER_UNNAMED
     closer = t;
#endif
     given_up = true;
     last = true
#endif
  :: else
  fi
}

/* `stop`: the operation is over. */
inline look(t, stop) {                                    /* step 9: kill, stream closing, reason */
  if
#ifdef KILL_LAST
  :: kill[t] && state == open ->
#else
  :: kill[t] ->
#endif
     ends_with(t, killed); stop = true
#ifdef REASON_FIRST
  :: !kill[t] && reason[t] == expired -> ends_with(t, timed_out); stop = true
  :: !kill[t] && reason[t] != expired && state != open -> ends_with(t, closed_error); stop = true
#else
#ifndef NO_LOOK
#ifdef KILL_LAST
  :: state != open ->
#else
  :: !kill[t] && state != open ->
#endif
     ends_with(t, closed_error); stop = true
#endif
#endif
  :: else ->
     if
     :: reason[t] == expired -> ends_with(t, timed_out); stop = true
     :: else -> stop = false
     fi
  fi;
  assert(!stop || !kill[t] || result[t] == killed);
  assert(!stop || !told[t] || result[t] == killed || result[t] == closed_error);
  told[t] = false; reason[t] = none
#ifdef ERROR_IN_THREAD
  ; if :: result[t] == closed_error -> thread_error[t] = false :: else fi
#endif
}

/* A later operation of the same thread, on something else: nothing of the first may reach it. */
inline later_operation(t) {
  atomic {
#ifdef ERROR_IN_THREAD
    assert(!thread_error[t]);
#endif
    if :: kill[t] -> skip :: else -> park(t) fi
  };
  atomic {
    if
    :: parked[t] -> parked[t] = false /* what it waits for has come */
    :: !parked[t] -> assert(kill[t]) /* nothing but its own kill can have woken it */
    fi
  }
}

proctype reader(byte me) {
  bool stop, last;
  atomic {
    stop = false; last = false;
#ifndef NO_FIRST_LOOK
    if :: state != open -> ends_with(me, closed_stream); goto after :: else fi;
#endif
    users++;                                              /* step 0: the first look */
attempt:
    touch;
    if
    :: data > 0 -> data--; ends_with(me, done); leave(me, last); goto after
    :: else
    fi
  };
  /* The attempt may have been made without the lock. */
  atomic {
#ifdef NO_LOOK_BEFORE_WAIT
    stop = false;
#else
    look(me, stop);
#endif
    if :: stop -> leave(me, last); goto after :: else -> link_and_park(me) fi
  };
  atomic {
    !parked[me];
    unlink(me); look(me, stop);
    if :: stop -> leave(me, last) :: else -> goto attempt fi
  };
after:
  if :: last -> finish(me) :: else fi;
#ifndef LARGE
  if :: me != U0 -> goto over :: else fi;
#endif
  later_operation(me);
over:
  skip
}

#ifdef WRITERS
inline pass_turn(t) {
  if :: mid_write == t -> mid_write = NOBODY :: else fi;
  if
  :: turn == t ->
     if
     :: queued[1 - t] && parked[1 - t] -> turn = 1 - t; make_ready(1 - t, event)
     :: else -> turn = NOBODY
     fi
  :: else
  fi
}

/* One write of two units. */
proctype writer(byte me) {
  bool stop, last;
  byte sent;
  atomic {
    stop = false; last = false; sent = 0;
    if :: state != open -> ends_with(me, closed_stream); goto after :: else fi;
    users++;                                              /* step 0: the first look */
#ifndef NO_TURN
    if
    :: turn == NOBODY -> turn = me; goto attempt
    :: turn != NOBODY && kill[me] -> ends_with(me, killed); goto over
    :: else -> queued[me] = true; link_and_park(me)
    fi
#else
    goto attempt
#endif
  };
  atomic {
    !parked[me];
    queued[me] = false;
    unlink(me); look(me, stop);
    if :: stop -> goto over :: else -> assert(turn == me) fi;
attempt:
    touch;
    do
    :: sent < 2 && room > 0 ->
       room--; sent++;
       assert(mid_write == (sent == 1 -> NOBODY : me));
       mid_write = (sent == 1 -> me : NOBODY)
    :: else -> break
    od;
    if
    :: sent == 2 -> ends_with(me, done); goto over
    :: sent < 2 && kill[me] -> ends_with(me, killed); goto over
    :: else -> link_and_park(me)
    fi
  };
  atomic {
    !parked[me];
    unlink(me); look(me, stop);
    if :: stop -> goto over :: else -> goto attempt fi;
over:
#ifdef KEEP_TURN
    if :: result[me] == done -> pass_turn(me) :: else fi;
#else
    pass_turn(me);
#endif
    assert(turn != me);
    leave(me, last)
  };
after:
  if :: last -> finish(me) :: else fi
}
#endif

inline tell(t) {
  if
#ifdef SKIP_QUEUED
  :: linked[t] && !queued[t] ->
#else
  :: linked[t] ->
#endif
     told[t] = true;
     make_ready(t, event)
#ifdef ERROR_IN_THREAD
     ; thread_error[t] = true
#endif
#ifdef CLOSER_UNLINKS
     ; linked[t] = false
#endif
  :: else
  fi
}

/* The closer was interrupted in step 3. Closers whose ticket is spent leave by themselves. */
inline pass_on(heir) {                                    /* step 7: an heir, or nobody */
  heir = NOBODY;
#ifndef NO_HEIR
  heir = (could_inherit(C0) -> C0 : (could_inherit(C1) -> C1 : (could_inherit(C2) -> C2 : NOBODY)));
  if :: heir != NOBODY -> waits[heir] = false; make_ready(heir, event) :: else fi;
#endif
#ifdef HEIR_UNNAMED
  closer = NOBODY;
#else
  closer = heir;                                          /* step 7: the heir is the closer from now on */
#endif
  heir = 0
}

proctype closing_thread(byte me; bool inside) {
  bool last, late;
  byte heir;
  atomic {
    last = false; late = false;
    if
    :: inside && state == open -> users++; owns[me] = true /* by an operation below close() */
    :: else
    fi
  };
  atomic {
    if
    :: state == closed -> ends_with(me, done); goto back
    :: state == closing ->
#ifndef OWN_USE_WAITS
       if :: owns[me] -> ends_with(me, done); goto back :: else fi;
#endif
       late = given_up;
       goto find_closing
    :: else
    fi;
#ifndef LATE_CLOSING
    state = closing;                                      /* step 1: open becomes closing */
#endif
    closer = me;
#ifndef NO_TELLING
    tell(U0); tell(U1);                                   /* step 2: every waiter is told */
    assert(!(linked[U0] && parked[U0]) && !(linked[U1] && parked[U1]));
#endif
wait_for_users:
    if                                                    /* step 3: until its own use is the only one */
#ifdef NO_WAIT
    :: true -> goto flush
#endif
#ifdef OWN_USE_COUNTS
    :: users == 0 -> goto flush
#else
#ifdef KILL_AT_ZERO
    :: only_user(me) && reason[me] != interrupted -> goto flush
#else
    :: only_user(me) -> goto flush
#endif
#endif
    :: else
    fi;
    if
    :: kill[me] -> ends_with(me, killed); pass_on(heir); goto back
    :: else -> reason[me] = none; park(me)
    fi
  };
  atomic { !parked[me] -> goto wait_for_users };
flush:
  atomic {
    assert(closer == me && only_user(me));
    flushed = true;                                       /* step 4: the place of the flush */
    ends_with(me, done);
    last = true;
    goto scope;
find_closing:
    if
    :: state == closing && closer != NOBODY && closer != me ->
       if :: kill[me] -> ends_with(me, killed); goto back :: else fi;
#ifdef CLOSER_IS_USER
       users++;
#endif
       waits[me] = true; reason[me] = none; park(me)      /* step 1: who finds closing waits */
    :: state == closed -> ends_with(me, done); assert(flushed || late); goto back
    :: else -> closer = me; goto wait_for_users           /* step 7: the heir, or nobody was closer */
    fi
  };
  atomic {
    !parked[me];
    waits[me] = false;
#ifdef CLOSER_IS_USER
    users--;
#endif
    if
#ifdef HEIR_LEAVES
    :: kill[me] && state != closed -> ends_with(me, killed); goto back
#else
    :: reason[me] == interrupted -> ends_with(me, killed); goto back
#endif
    :: else -> goto find_closing
    fi
  };
scope:
  if :: last -> finish(me) :: else fi;
back:
  /* The operation below goes on: it looks before it touches the descriptor again, and ends. */
  atomic {
    last = false;
    if
    :: owns[me] ->
#ifdef OWN_NO_LOOK
       touch;
#else
       if :: state == open -> touch :: else fi;           /* step 9: the look after calling out */
#endif
       owns[me] = false;
       leave(me, last)
    :: else
    fi
  };
  if :: last -> finish(me) :: else fi
}

/* At most so many of the victims are killed, in any order, at any time. */
proctype killer(byte kills; byte a; byte b; byte c) {
  do
  :: atomic { kills > 0 && !kill[a] -> kills--; kill[a] = true; make_ready(a, interrupted) }
  :: atomic { kills > 0 && !kill[b] -> kills--; kill[b] = true; make_ready(b, interrupted) }
  :: atomic { kills > 0 && !kill[c] -> kills--; kill[c] = true; make_ready(c, interrupted) }
  :: break
  od
}

#if defined(READERS) || defined(REUSE)
/* One event for the stream: harvested while the number is ours, looked at under the lock any time later. */
proctype poller() {
  byte harvested, to;
  if
  :: atomic { number == OURS && entry == OURS -> harvested = generation }
  :: goto over
  fi;
  atomic {
    if :: data = 1 :: true fi;
    to = entry;
#ifndef NO_GENERATION
    if :: harvested != generation -> to = NOBODY :: else fi;
#endif
    if
    :: to == OURS ->
       assert(state != closed);
       if
       :: linked[U0] -> make_ready(U0, event)
       :: !linked[U0] && linked[U1] -> make_ready(U1, event)
       :: else
       fi
    :: to == STRANGERS -> assert(false) /* our event made the stranger's reader ready */
    :: else
    fi;
    to = 0; harvested = 0
  };
over:
  skip
}
#endif

#ifdef READERS
/* The time limit of U0. It is never taken back, only outlived. */
proctype timer() {
  byte t;
  if
  :: atomic { linked[U0] -> t = ticket }
  :: goto over
  fi;
  atomic {
#ifdef NO_TICKET
    make_ready(U0, expired);
#else
    if :: ticket == t -> make_ready(U0, expired) :: else fi;
#endif
    t = 0
  };
over:
  skip
}
#endif

#ifdef WRITERS
proctype peer() {
  byte n = 0;
  do
  :: atomic {
       n < 3 && room == 0 ->
       n++; room++;
       if :: linked[U0] && !queued[U0] -> make_ready(U0, event) :: else fi;
       if :: linked[U1] && !queued[U1] -> make_ready(U1, event) :: else fi
     }
  :: atomic { true -> n = 0; break }
  od
}
#endif

#ifdef REUSE
/* Opens something, gets the number, waits on it. */
proctype stranger() {
  if
  :: atomic { number == NOBODY -> number = STRANGERS; entry = STRANGERS; parked[S] = true }
  :: true
  fi
}
#endif

init {
  atomic {
#ifdef READERS
    run reader(U0); run reader(U1); run timer(); run poller(); run killer(KILLS, U0, C0, C1);
#endif
#ifdef WRITERS
    run writer(U0); run writer(U1); run peer(); run killer(3, U1, C0, C1);
#endif
#ifdef REUSE
    run reader(U0); run poller(); run stranger(); run killer(3, U0, C0, C1);
    run closing_thread(C0, false); run closing_thread(C1, true)
#else
    run closing_thread(C0, false); run closing_thread(C1, false)
#endif
#ifdef HEIRS
    ; run reader(U0); run closing_thread(C2, false); run killer(3, C0, C1, C2)
#endif
  };
  _nr_pr == 1 -> assert(state == closed && number != OURS) /* all have ended */
}
