import { LogError, type EventLog, type SessionId } from "@keelson/protocol";
import { expect, it } from "vitest";
import type { Clock } from "../platform/clock.ts";
import { createMemoryBlobStore } from "../state/memory/memory-blob-store.ts";
import { createMemoryEventLog } from "../state/memory/memory-event-log.ts";
import { Journal } from "./journal.ts";

const session = "s" as SessionId;
const TTL_MS = 1000;

/** Opens a session in a process that hears of its next append when `while` is over. */
async function appendMeanwhile(meanwhile: (log: EventLog, pass: (ms: number) => void) => Promise<void>): Promise<unknown> {
  let now = 0;
  const clock: Clock = { now: () => now, after: () => () => {} };
  const memory = createMemoryEventLog({ now: () => now });
  const log: EventLog = {
    ...memory,
    async append(...args) {
      const appended = await memory.append(...args);
      await meanwhile(memory, (ms) => void (now += ms));
      return appended;
    },
  };
  const journal = await Journal.open({
    log,
    blobs: createMemoryBlobStore(),
    clock,
    session,
    owner: "one",
    leaseTtlMs: TTL_MS,
    durability: "process",
  });
  journal.put("r/start", "run-start", { session, agent: "clerk", definition: "d", model: "m" });
  return journal.flush().catch((error: unknown) => error);
}

it("acts on no append of which it hears only after somebody took the session over", async () => {
  const failure = await appendMeanwhile(async (log, pass) => {
    pass(TTL_MS + 1);
    await log.acquire(`session/${session}` as never, { owner: "other", ttlMs: TTL_MS });
  });
  expect(LogError.is(failure, "stale-epoch")).toBe(true);
});

it("goes on after an append that took as long as its lease, where nobody took the session over", async () => {
  expect(await appendMeanwhile(async (_, pass) => pass(TTL_MS + 1))).toBeUndefined();
});
