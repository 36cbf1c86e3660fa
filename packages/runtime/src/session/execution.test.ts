import { LogError, type RunId, type SessionId } from "@keelson/protocol";
import { expect, it } from "vitest";
import { systemClock } from "../platform/clock.ts";
import { createMemoryBlobStore } from "../state/memory/memory-blob-store.ts";
import { createMemoryEventLog } from "../state/memory/memory-event-log.ts";
import { Execution } from "./execution.ts";
import { Journal } from "./journal.ts";

const session = "s" as SessionId;
const runId = "r" as RunId;

async function openExecution(): Promise<Execution> {
  const journal = await Journal.open({
    log: createMemoryEventLog(),
    blobs: createMemoryBlobStore(),
    clock: systemClock,
    session,
    owner: "test",
    leaseTtlMs: 1000,
    durability: "process",
  });
  journal.put("r/start", "run-start", { session, agent: "clerk", definition: "d", model: "m" });
  return new Execution({
    journal,
    clock: systemClock,
    runId,
    session,
    signal: new AbortController().signal,
    stopping: new AbortController().signal,
    authority: { policies: [], depth: 0 },
    emit: () => {},
    startChild: () => Promise.reject(new Error("no child is started here")),
  });
}

it("finds what stands under a key of the run, of the types that it may be of", async () => {
  const execution = await openExecution();
  execution.put("k", "instructions", { text: "Be brief." });
  expect(execution.lookup("k", "instructions")?.data.text).toBe("Be brief.");
  expect(execution.lookup("k", "run-context", "instructions")).toMatchObject({ key: "r/k", type: "instructions" });
  expect(execution.lookup("other", "instructions")).toBeUndefined();
  expect([execution.has("k"), execution.has("other")]).toEqual([true, false]);
});

it("refuses to take a record of another type for what was looked up: the log is damaged", async () => {
  const execution = await openExecution();
  execution.put("k", "instructions", { text: "Be brief." });
  expect(() => execution.lookup("k", "run-context")).toThrow(
    expect.toSatisfy(
      (error: unknown) => LogError.is(error, "corrupt") && error.message.includes('"r/k" and is of type "instructions", not run-context'),
    ),
  );
});
