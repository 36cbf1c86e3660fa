const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;

/** When to try again what did not work out, by name: after a second at first, then after twice as long each time, up to five minutes. */
export class RetryBackoff {
  readonly #waits = new Map<string, { readonly until: number; readonly delayMs: number; readonly stamp: number | undefined }>();

  /** @param stamp what the world looked like. @returns when to try again, Unix ms */
  failed(name: string, now: number, stamp?: number): number {
    const delayMs = Math.min(LONGEST_MS, (this.#waits.get(name)?.delayMs ?? FIRST_MS / 2) * 2);
    this.#waits.set(name, { until: now + delayMs, delayMs, stamp });
    return now + delayMs;
  }

  isOver(name: string, now: number): boolean {
    const until = this.until(name);
    return until === undefined || until <= now;
  }

  /** Unix ms. */
  until(name: string): number | undefined {
    return this.#waits.get(name)?.until;
  }

  stamp(name: string): number | undefined {
    return this.#waits.get(name)?.stamp;
  }

  forget(name: string): void {
    this.#waits.delete(name);
  }

  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#waits.keys()) if (!names.has(name)) this.#waits.delete(name);
  }
}
