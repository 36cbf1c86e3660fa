/** Something that must end by a time, unless it is over before. */
export interface Timed {
  /** By `performance.now()`. It may move away at will; when it comes nearer, `watchDeadline` must be told. */
  readonly deadline: number;
  /** The deadline has passed; it is watched no longer. */
  expire(): void;
}

/** Node waits no longer than this at once. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

const watched = new Set<Timed>();
let timer: NodeJS.Timeout | undefined;
/** When the timer fires. */
let due = Number.POSITIVE_INFINITY;

/**
 * Calls `expire` when the deadline has passed. One timer serves all that is watched, since most of it is over long before: to
 * begin, to put off and to end costs no timer. What is watched must keep the process alive by itself.
 */
export function watchDeadline(timed: Timed): void {
  watched.add(timed);
  const { deadline } = timed;
  if (deadline < due) wakeBy(deadline);
}

export function unwatchDeadline(timed: Timed): void {
  watched.delete(timed);
}

function wakeBy(deadline: number): void {
  clearTimeout(timer);
  due = deadline;
  timer = setTimeout(look, Math.min(Math.max(Math.ceil(deadline - performance.now()), 1), LONGEST_WAIT_MS));
  timer.unref();
}

function look(): void {
  due = Number.POSITIVE_INFINITY;
  const now = performance.now();
  let next = Number.POSITIVE_INFINITY;
  for (const timed of watched) {
    const { deadline } = timed;
    if (deadline > now) next = Math.min(next, deadline);
    else {
      watched.delete(timed);
      timed.expire();
    }
  }
  if (next < due) wakeBy(next);
}
