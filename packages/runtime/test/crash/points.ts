/** Where a process is in its work. Each place it passes is named and counted, so that a test can end it there: nowhere else, and in every one. */
export interface Points {
  /** Called at each place, and awaited; does not return where the process is to die. */
  pass(place: string): Promise<void> | void;
  /** Notes nothing. Does not return in a process that has died: what it had under way beside must not reach the world any more. */
  waitIfDead(): Promise<void> | void;
  /** `<place>#<how often it was passed before>`, in order. */
  readonly passed: readonly string[];
}

/** @param onPass may return what others wait for: while it is not settled, nothing goes on there, nor at any later place */
export function createPoints(onPass: (point: string) => Promise<void> | void = () => {}): Points {
  const counts = new Map<string, number>();
  const passed: string[] = [];
  let stuck: Promise<void> | void;
  return {
    passed,
    waitIfDead: () => stuck,
    pass(place) {
      if (stuck !== undefined) return stuck;
      const count = counts.get(place) ?? 0;
      counts.set(place, count + 1);
      const point = `${place}#${count}`;
      passed.push(point);
      stuck = onPass(point);
      return stuck;
    },
  };
}

/** A process that stops at `place` as if it had been killed: what it had begun stays as it is, for ever. */
export function pointsUntil(place: string | undefined): Points & { readonly died: Promise<void> } {
  let markDead = (): void => {};
  const died = new Promise<void>((resolve) => {
    markDead = resolve;
  });
  const points = createPoints((point) => {
    if (point !== place) return;
    markDead();
    return new Promise<never>(() => {});
  });
  return { ...points, died };
}
