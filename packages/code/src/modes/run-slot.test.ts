import type { Run } from "keelson";
import { describe, expect, it } from "vitest";
import { createRunSlot } from "./run-slot.ts";

const RUN = { id: "r1" } as Run;

describe("createRunSlot", () => {
  it("does to a run that is being started what was asked for meanwhile, in order, once it has started", async () => {
    const slot = createRunSlot();
    const did: string[] = [];
    const begun = Promise.withResolvers<Run>();
    const opened = slot.open(
      () => begun.promise,
      async (run) => {
        slot.take(run);
        did.push("follow");
      },
    );
    expect(slot.withRun(() => did.push("first"))).toBe(true);
    expect([slot.withRun(() => did.push("second")), slot.run, did]).toEqual([true, undefined, []]);
    begun.resolve(RUN);
    await opened;
    expect([did, slot.run]).toEqual([["follow", "first", "second"], RUN]);
    slot.release();
    expect(slot.withRun(() => did.push("late"))).toBe(false);
  });

  it("has no run after a start that failed, and gives the reason", async () => {
    const slot = createRunSlot();
    await expect(
      slot.open(
        () => Promise.reject(new Error("no such model")),
        async () => {},
      ),
    ).rejects.toThrow("no such model");
    expect(slot.withRun(() => {})).toBe(false);
  });
});
