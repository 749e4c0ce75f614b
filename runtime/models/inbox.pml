/* inbox.pml: posting work into a VM whose only worker may be about to sleep, or to end.
 *
 * The worker runs threads while the lock word is held, and polls while it is idle. Posters are OS threads
 * outside the VM. Every statement or `atomic` block is one access to shared memory or one system call; memory
 * is sequentially consistent, as the exchange, the push and both looks must be in the code. A lent lock and
 * further workers are not modelled yet.
 *
 * Lines that are a step carry "step N" (scripts/check_models --steps inbox prints them):
 *   step 1  the holder takes what was posted, at every switch of threads
 *   step 2  nothing is runnable: the word goes from held to idle, by an exchange
 *   step 3  the inbox is read again; if there is something, the lock is taken back
 *   step 4  the poll, until there is an event or a kick
 *   step 5  awake: the lock is taken, the kick is drained, the inbox is read
 *   step 6  the poster counts itself, then pushes
 *   step 7  it reads the word: held, nothing to do; idle, it kicks; then it no longer counts
 *   step 8  the VM ends: one exchange takes the rest and shuts the inbox; a later push is refused
 *   step 9  it waits until no poster counts, and only then gives back the descriptor that kicks go to
 *
 * Asserted: what was posted is taken at the next switch but one at the latest; every post is taken or
 * refused; no kick goes to a number that is not ours. No hang: the worker never sleeps while something is in
 * the inbox.
 *
 * mutation NO_TAKE_AT_SWITCH: step 1 is done only when nothing else is runnable
 * mutation NO_SECOND_LOOK: step 3 is left out
 * mutation LOOK_BEFORE_IDLE: step 3 comes before step 2, as if the exchange were a plain store
 * mutation DRAIN_BEFORE_POLL: the kick is drained before step 4 instead of after it
 * mutation NO_WORD: step 7 is left out
 * mutation WORD_BEFORE_PUSH: step 7 reads the word before step 6
 * mutation NO_KICK: step 7 reads the word, but does not kick
 * mutation KICK_IF_POLLING: step 7 kicks only a worker that is seen inside the poll
 * mutation COUNT_AFTER_PUSH: step 6 pushes before it counts
 * mutation SHUT_IN_TWO: step 8 takes the rest, and then shuts the inbox
 * mutation NO_WAIT_FOR_POSTERS: step 9 does not wait
 */
#define POSTERS 2 /* in init */
#ifdef LARGE
#define POSTS 3
#else
#define POSTS 1
#endif

mtype = { held, idle };

mtype word = held;
byte inbox = 0;          /* how much is posted and not taken */
bool shut = false;
byte posters = 0;        /* how many are inside a post */
byte ran = 0, refused = 0;
bool kick = false;       /* the descriptor for kicks is readable */
bool kick_is_ours = true;
bool event = false;      /* another descriptor is */
bool polling = false;    /* the worker is inside the poll */

#define all_done (ran + refused == POSTERS * POSTS)

proctype worker() {
  byte runnable = 0, busy = 3, switches = 0;
switch_threads:
  atomic {
    if :: inbox > 0 -> switches++ :: else -> switches = 0 fi;
    assert(switches < 2)
  };
#ifdef NO_TAKE_AT_SWITCH
  if :: busy > 0 || runnable > 0 -> goto pick :: else fi;
#endif
  atomic { runnable = runnable + inbox; inbox = 0; switches = 0 }; /* step 1: what was posted is taken */
pick:
  if
  :: runnable > 0 -> runnable--; ran++; goto switch_threads
  :: busy > 0 -> busy--; goto switch_threads /* a thread that only yields, a few times */
  :: runnable == 0 -> skip
  :: runnable == 0 && busy == 0 -> goto the_end
  fi;
#ifdef LOOK_BEFORE_IDLE
  if :: inbox > 0 -> goto switch_threads :: else fi;
#endif
  atomic { assert(word == held); word = idle };           /* step 2: idle, by an exchange */
#if !defined(NO_SECOND_LOOK) && !defined(LOOK_BEFORE_IDLE)
  if
  :: inbox > 0 ->                                         /* step 3: the inbox again */
     atomic { assert(word == idle); word = held };        /* step 3: the lock is taken back */
     goto switch_threads
  :: else
  fi;
#endif
#ifdef DRAIN_BEFORE_POLL
  kick = false;
#endif
  polling = true;
  if                                                      /* step 4: the poll */
  :: kick -> skip
  :: atomic { event -> event = false }
  :: all_done -> skip
  fi;
  polling = false;
  atomic { assert(word == idle); word = held };           /* step 5: the lock */
#ifndef DRAIN_BEFORE_POLL
  kick = false;                                           /* step 5: the kick is drained; then the inbox */
#endif
  if :: all_done -> goto the_end :: else -> goto switch_threads fi;
the_end:
#ifdef SHUT_IN_TWO
  atomic { ran = ran + inbox; inbox = 0 };
  shut = true;
#else
  atomic { ran = ran + inbox; inbox = 0; shut = true };   /* step 8: the rest is taken, the inbox shut */
#endif
#ifndef NO_WAIT_FOR_POSTERS
  posters == 0;                                           /* step 9: no poster counts */
#endif
  kick_is_ours = false;                                   /* step 9: the descriptor is given back */
  word = idle
}

proctype poster() {
  byte n;
  bool taken;
  mtype seen;
  for (n : 1 .. POSTS) {
#ifndef COUNT_AFTER_PUSH
    posters++;                                            /* step 6: the poster counts itself */
#endif
#ifdef WORD_BEFORE_PUSH
    seen = word;
#endif
    atomic {                                              /* step 6: the push */
      taken = !shut;
      if :: taken -> inbox++ :: else -> refused++ fi
    };
#ifdef COUNT_AFTER_PUSH
    posters++;
#endif
#if !defined(WORD_BEFORE_PUSH) && !defined(NO_WORD)
    seen = word;                                          /* step 7: then the word */
#endif
    if
    :: taken && seen == idle ->
#ifndef NO_KICK
#ifdef KICK_IF_POLLING
       if :: polling -> kick = true :: else fi
#else
       atomic { assert(kick_is_ours); kick = true }       /* step 7: the kick */
#endif
#endif
    :: else
    fi;
    posters--                                             /* step 7: it no longer counts */
  }
}

proctype descriptor() { event = true }

init {
  atomic { run worker(); run poster(); run poster(); run descriptor() };
  _nr_pr == 1 -> assert(all_done) /* all have ended */
}
