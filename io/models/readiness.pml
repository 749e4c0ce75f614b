/* readiness.pml: what a stream remembers about its descriptor, and who is woken when.
 *
 * Two readers (three with LARGE) and a writer of one stream, the poller, the peer, a killer. An `atomic`
 * block is what one thread does without giving up the global lock. The attempt stands in a block of its own,
 * as if it were made without the lock; an attempt under the lock is the case in which nothing comes between.
 * Each direction has `ready` and `tick`. `hung_up` says that a hang-up or an error was seen; it only keeps
 * short reads from clearing `ready`.
 *
 * Lines that are a step carry "step N" (scripts/check_models --steps readiness prints them):
 *   step 1  nothing is there, and what comes will be told: wait without a call
 *   step 2  the attempt; the tick is read before it
 *   step 3  EAGAIN, and the tick is the one read: not ready any more; a reader forgets the hang-up as well
 *   step 4  a short read, the tick is the one read, no hang-up seen: not ready any more
 *   step 5  before a poll: a stream with waiters is registered, once; that reports what is there
 *   step 6  an edge: ready, tick, the head is made ready; a hang-up or error does so both ways
 *   step 7  the hint of a writer in the same VM: the same as an edge
 *   step 8  an operation leaves, for whatever reason: while it is ready, the next waiter is made ready
 *
 * Asserted: no attempt of one operation fails twice with EAGAIN without an edge in between (that would be a
 * loop that burns the CPU). No hang: everybody ends, since data or the end of file comes for everybody.
 *
 * config EDGES: data for all readers, in one event or two; the peer may be in the VM and give hints
 * config HANG_UP: data and a hang-up, or half of one, in one event; a writer waits beside the readers
 * config HINTS: the peer is in the VM and the kernel is silent: the hints do it alone
 * config ERRORS: an error, which one attempt consumes; then data
 *
 * mutation NO_TICK (EDGES): step 3 clears whatever the tick is
 * mutation NO_CLEAR (EDGES): step 3 does not clear
 * mutation WRITER_CLEARS_HANG_UP (HANG_UP): step 3: a writer forgets the hang-up as well
 * mutation SHORT_IGNORES_TICK (EDGES): step 4 clears whatever the tick is
 * mutation SHORT_IGNORES_HANG_UP (HANG_UP): step 4 clears although a hang-up was seen
 * mutation FULL_CLEARS (EDGES): step 4 clears also when all that was asked for came
 * mutation ANY_KIND_CLEARS (EDGES): step 4 is done for a kind of descriptor that may give less than it has
 * mutation NO_REGISTER (EDGES): step 5 is left out
 * mutation ONE_WAY (HANG_UP): step 6: a hang-up wakes the readers only
 * mutation HINT_REPLACES_EDGE (EDGES): the hint only makes the head ready, and the edge is dropped
 * mutation HINT_NOT_READY (HINTS): step 7 does not set ready
 * mutation HINT_NO_TICK (HINTS): step 7 does not count the tick
 * mutation HINT_NO_WAKE (HINTS): step 7 does not make the head ready
 * mutation NO_CHAIN (EDGES): step 8 is left out
 * mutation CHAIN_AFTER_SUCCESS (EDGES): step 8 is done only by an operation that got something
 */
#ifdef LARGE
#define READERS 3
#else
#define READERS 2
#endif
#define WRITER READERS
#define THREADS (READERS + 1)
#define WANT 2 /* what one read asks for */

#define IN 0
#define OUT 1

/* the stream */
bool ready[2] = true; /* nothing is known yet: the first attempt finds out */
bool hung_up = false; /* seen, and not disproved by a reader's EAGAIN */
byte tick[2];
byte list[READERS];   /* the readers that wait, in order; only the resumed thread takes itself off */
byte waiting = 0;

/* the threads */
bool parked[THREADS], kill[THREADS], over[THREADS];

/* the kernel */
bool registered = false, edge = false;
byte data = 0;
bool eof = false, error = false;
bool half = false; /* the peer has only shut down its own writing */

#define readable (data > 0 || eof || error)
#define ended (eof || error)
#ifdef LARGE
#define all_over (over[0] && over[1] && over[2] && over[WRITER])
#else
#define all_over (over[0] && over[1] && over[WRITER])
#endif

inline wake_head(d) {
  if
  :: d == IN && waiting > 0 -> parked[list[0]] = false
  :: d == OUT -> parked[WRITER] = false
  :: else
  fi
}

inline link(t) { list[waiting] = t; waiting++ }
inline unlink(t) {
  k = 0;
  do :: list[k] != t -> k++ :: else -> break od;
  do :: k + 1 < waiting -> list[k] = list[k + 1]; k++ :: else -> break od;
  waiting--;
  list[waiting] = 0; k = 0
}

inline leave(t, d, got) {                                 /* step 8: while readiness stands, the next one */
#ifndef NO_CHAIN
#ifdef CHAIN_AFTER_SUCCESS
  if :: ready[d] && got -> wake_head(d) :: else fi;
#else
  if :: ready[d] -> wake_head(d) :: else fi;
#endif
#endif
  over[t] = true
}

proctype reader(byte me) {
  byte t, n, k;
  bool again, failed;
  byte failed_at;
  again = false;
attempt:
  atomic {
    if
    :: kill[me] -> leave(me, IN, false); goto end
    :: !kill[me] && !ready[IN] -> goto wait               /* step 1: wait without a call */
    :: !kill[me] && (ready[IN] || !registered) -> t = tick[IN] /* step 2: the tick, then the attempt */
    fi
  };
  atomic {
    failed = false;
    if
    :: data > 0 && data <= WANT -> n = data; data = 0
    :: data > WANT -> n = WANT; data = data - WANT
#ifdef ANY_KIND_CLEARS
    :: data > 1 -> n = 1; data--
#endif
    :: data == 0 && error -> n = WANT; error = false
    :: data == 0 && !error && eof -> n = WANT
    :: else -> failed = true
    fi
  };
  atomic {
    if
    :: !failed ->
       if
#ifdef SHORT_IGNORES_TICK
       :: n < WANT && !hung_up -> ready[IN] = false
#else
#ifdef SHORT_IGNORES_HANG_UP
       :: n < WANT && tick[IN] == t -> ready[IN] = false
#else
       :: n < WANT && tick[IN] == t && !hung_up -> ready[IN] = false /* step 4: a short read */
#endif
#endif
#ifdef FULL_CLEARS
       :: n == WANT && tick[IN] == t && !hung_up -> ready[IN] = false
#endif
       :: else
       fi;
       leave(me, IN, true);
       goto end
    :: failed ->
       failed = false; n = 0;
       assert(!(again && failed_at == t));
       again = true; failed_at = t;
       if
#ifdef NO_TICK
       :: true -> ready[IN] = false; hung_up = false
#else
#ifndef NO_CLEAR
       :: tick[IN] == t ->                                /* step 3: EAGAIN with the tick that was read */
          ready[IN] = false; hung_up = false
#endif
#endif
       :: else
       fi;
       if :: ready[IN] -> goto attempt :: else fi
    fi;
wait:
    t = 0;
    if :: kill[me] -> leave(me, IN, false); goto end :: else fi;
    link(me);
    parked[me] = true
  };
  atomic { !parked[me]; unlink(me) };
  goto attempt;
end:
  skip
}

/* There is never room. What ends the writer is the hang-up, or a kill if the peer still reads. */
proctype writer() {
  byte t;
  bool failed;
attempt:
  atomic {
    if
    :: kill[WRITER] -> goto end
    :: !kill[WRITER] && !ready[OUT] -> goto wait
    :: else -> t = tick[OUT]
    fi
  };
  atomic { failed = !(ended && !half) };
  atomic {
    if
    :: !failed -> goto end
    :: failed && tick[OUT] == t ->
       ready[OUT] = false
#ifdef WRITER_CLEARS_HANG_UP
       ; hung_up = false
#endif
    :: else -> goto attempt
    fi;
    if :: ready[OUT] -> goto attempt :: else fi;
wait:
    t = 0; failed = false;
    if :: kill[WRITER] -> goto end :: else fi;
    parked[WRITER] = true
  };
  atomic { !parked[WRITER] };
  goto attempt;
end:
  over[WRITER] = true
}

inline deliver(d) {
  ready[d] = true; tick[d]++;
  wake_head(d)
}

active proctype poller() {
  bool in, hang_up;
  do
#if !defined(NO_REGISTER) && !defined(HINTS)
  :: atomic {                                             /* step 5: registered, once */
       !registered && (waiting > 0 || parked[WRITER]) -> registered = true; edge = readable
     }
#endif
  :: atomic { edge && readable -> edge = false; in = readable; hang_up = ended };
     atomic {                                             /* step 6: an edge */
       hung_up = hung_up || hang_up;
       if :: in -> deliver(IN) :: else fi;
#ifndef ONE_WAY
       if :: hang_up -> deliver(OUT) :: else fi;
#endif
       in = false; hang_up = false
     }
  :: atomic { edge && !readable -> edge = false }
  :: all_over -> break
  od
}

inline kernel_edge() { edge = registered }
inline hint() {                                           /* step 7: the same as an edge */
#ifndef HINT_NOT_READY
  ready[IN] = true;
#endif
#ifndef HINT_NO_TICK
  tick[IN]++;
#endif
#ifndef HINT_NO_WAKE
  wake_head(IN)
#endif
}

/* A write of the peer, which may be in the VM: then it may give a hint beside the edge. */
inline peer_writes(n) {
  if
  :: atomic { data = data + n; kernel_edge() }
#ifdef HINT_REPLACES_EDGE
  :: atomic { data = data + n; wake_head(IN) }
#else
  :: atomic { data = data + n; kernel_edge(); hint() }
#endif
  fi
}

#ifdef EDGES
active proctype peer() {
  if
  :: peer_writes(WANT * (READERS - 1) + 1)
  :: peer_writes(1); peer_writes(WANT * (READERS - 1))
  fi
}
#endif

#ifdef HANG_UP
active proctype peer() {
  if :: peer_writes(1) :: true fi;
  if :: half = true :: true fi;
  atomic { data++; eof = true; kernel_edge() }; /* the last byte and the hang-up are one event */
  if :: atomic { half -> kill[WRITER] = true; parked[WRITER] = false } :: else fi
}
#endif

#ifdef HINTS
active proctype peer() {
  byte n;
  for (n : 1 .. READERS) { atomic { data = data + WANT; hint() } }
}
#endif

#ifdef ERRORS
active proctype peer() {
  atomic { error = true; kernel_edge() };
  byte n;
  for (n : 1 .. READERS) { atomic { data = data + WANT; kernel_edge() } }
}
#endif

#if !defined(HANG_UP) || defined(LARGE)
active proctype killer() {
  if
  :: kill[0] = true; parked[0] = false
  :: kill[1] = true; parked[1] = false
  :: true
  fi
}
#endif

init {
  atomic {
    run reader(0);
    run reader(1);
#ifdef LARGE
    run reader(2);
#endif
#if defined(HANG_UP) && !defined(LARGE)
    run writer()
#else
    over[WRITER] = true
#endif
  }
}
