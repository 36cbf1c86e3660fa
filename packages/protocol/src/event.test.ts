import { describe, expect, it } from "vitest";
import { DURABLE_TYPES, TRANSIENT_TYPES } from "../test/payload-arbitraries/event.ts";
import { transientEventCodec } from "./decode/event-codec.ts";
import { isDurableEventType, isFinal, type TaskEventKind } from "./event.ts";

describe("an event type", () => {
  it("is final exactly for run-complete and error [EV-16]", () => {
    expect([...DURABLE_TYPES, ...TRANSIENT_TYPES, "from-the-future"].filter((type) => isFinal({ type })).sort()).toEqual([
      "error",
      "run-complete",
    ]);
  });

  it("is durable or transient, never both", () => {
    expect(DURABLE_TYPES.every(isDurableEventType)).toBe(true);
    expect(TRANSIENT_TYPES.some(isDurableEventType)).toBe(false);
    expect(isDurableEventType("constructor")).toBe(false);
  });

  it("is written in kebab-case [GEN-03]", () => {
    for (const type of [...DURABLE_TYPES, ...TRANSIENT_TYPES]) expect(type).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });

  it("exists for everything that the sources stream [EV-01, EV-02, EV-03, EV-04, EV-05, EV-06, EV-09, WE-03, WE-07]", () => {
    expect(DURABLE_TYPES).toEqual(
      expect.arrayContaining([
        "tool-result",
        "state-update",
        "directive",
        "usage",
        "rate-limit",
        "task",
        "suggestion",
        "run-complete",
        "error",
        "tool-calls-start",
        "tool-calls-complete",
        "compaction",
        "steer",
      ]),
    );
    expect(TRANSIENT_TYPES).toEqual(
      expect.arrayContaining([
        "text-start",
        "text-delta",
        "text-end",
        "thinking-start",
        "thinking-delta",
        "thinking-end",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "tool-progress",
        "status",
      ]),
    );
  });

  it("of a task says which of four things happened to it [EV-20]", () => {
    const kinds = { started: 1, progress: 1, completed: 1, failed: 1 } satisfies Record<TaskEventKind, 1>;
    expect(Object.keys(kinds)).toEqual(["started", "progress", "completed", "failed"]);
  });

  it("of a status needs a text", () => {
    expect(() => transientEventCodec.decode({ type: "status" })).toThrow("transient event: status: expected a string, got nothing");
  });
});
