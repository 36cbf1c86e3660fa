import { setTimeout as delay } from "node:timers/promises";

/** Asks again until there is an answer; what other processes do makes no sound here. */
export async function eventually<T>(what: string, ask: () => Promise<T | undefined>, withinMs = 30_000): Promise<T> {
  const until = Date.now() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      last = error;
    }
    if (Date.now() > until) throw new Error(`${what} did not come in ${withinMs} ms.`, { cause: last });
    await delay(20);
  }
}
