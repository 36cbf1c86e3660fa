import { describe, expect, it } from "vitest";
import type { Directive, Effect } from "../effect.ts";
import { DecodeError } from "../errors/decode-error.ts";
import type { DurableEvent, TaskEventKind } from "../event.ts";
import { directiveCodec, effectCodec } from "./effect-codec.ts";
import { durableEventCodec } from "./event-codec.ts";

const scope = { type: "workflow", id: "w" } as const;
const meta = { id: "e_1", causationId: "c_1", correlationId: "r_1", seq: 3, at: 4, outcome: "done" } as const;
const link = { scope, from: "a", to: "b", relation: "knows" };

/** One of each, so that a new member does not compile without one. */
const EFFECTS: { readonly [T in Exclude<Effect["type"], "other">]: Extract<Effect, { readonly type: T }> } = {
  "write-memory": {
    type: "write-memory",
    scope,
    key: "k",
    value: [1],
    options: { tier: "hot", lifetime: "durable", contentKind: "semantic", salience: 0.5, ttlMs: 10 },
  },
  "delete-memory": { type: "delete-memory", scope, key: "k" },
  "signal": { type: "signal", target: "s", signal: { kind: "timer", payload: null } },
  "delegate": { type: "delegate", operator: "o", message: [{ type: "text", text: "t" }], metadata: {} },
  "handoff": { type: "handoff", operator: "o", task: "t", history: [], metadata: {} },
  "link-memory": { type: "link-memory", ...link },
  "unlink-memory": { type: "unlink-memory", ...link },
  "tool-approval-required": { type: "tool-approval-required", toolName: "t", callId: "c", input: {} },
  "progress": { type: "progress", message: "m", ratio: 0.1 },
  "artifact": { type: "artifact", name: "n", mediaType: "text/plain", content: "c" },
  "log": { type: "log", level: "warn", message: "m" },
  "observation": { type: "observation", name: "n", value: 1 },
  "metric": { type: "metric", name: "n", value: 1.5, unit: "ms" },
  "directive": { type: "directive", directive: { type: "stop" } },
  "custom": { type: "custom", name: "n", payload: {} },
};

const DIRECTIVES: { readonly [T in Exclude<Directive["type"], "other">]: Extract<Directive, { readonly type: T }> } = {
  "emit": { type: "emit", event: { a: 1 } },
  "spawn-agent": { type: "spawn-agent", name: "n", config: {} },
  "stop-child": { type: "stop-child", name: "n" },
  "schedule": { type: "schedule", action: "a", delay: "1h 30m" },
  "run-instruction": { type: "run-instruction", instruction: "i", input: null },
  "cron": { type: "cron", expression: "0 3 * * *", action: "a", timeZone: "Europe/Berlin" },
  "stop": { type: "stop", reason: "r" },
  "spawn-task": { type: "spawn-task", description: "d", input: 1 },
  "stop-task": { type: "stop-task", taskId: "t" },
  "custom": { type: "custom", customType: "c", payload: [] },
};

describe("effects on a wire", () => {
  it.each(Object.entries(EFFECTS))("%s comes back as it was, with who caused it and when [EF-01]", (_type, effect) => {
    const whole = { meta, ...effect } as Effect;
    expect(effectCodec.decode(JSON.parse(JSON.stringify(effectCodec.encode(whole))))).toEqual(whole);
    expect(effectCodec.decode(effect)).toBe(effect);
  });

  it.each(Object.entries(DIRECTIVES))(
    "the directive %s comes back as it was, alone and in the event that shows it [DI-01, EV-08]",
    (_type, directive) => {
      expect(directiveCodec.decode(JSON.parse(JSON.stringify(directiveCodec.encode(directive))))).toEqual(directive);
      const event: DurableEvent = { type: "directive", directive, id: "e_1", causationId: "t1" };
      expect(durableEventCodec.decode(JSON.parse(JSON.stringify(durableEventCodec.encode(event))))).toEqual(event);
    },
  );

  it("are refused where a field is missing, with the path to it", () => {
    for (const [type, effect] of Object.entries(EFFECTS)) {
      for (const field of Object.keys(effect).filter(
        (name) => !["type", "options", "metadata", "history", "ratio", "unit"].includes(name),
      )) {
        const { [field]: _, ...rest } = effect as unknown as { readonly [name: string]: unknown };
        expect(() => effectCodec.decode(rest), `${type} without ${field}`).toThrow(
          expect.objectContaining({ failure: expect.objectContaining({ path: field }) }),
        );
      }
    }
    expect(() => directiveCodec.decode({ type: "schedule", action: "a", delay: "tomorrow" })).toThrow(DecodeError);
  });
});

describe("what is told of a task", () => {
  it.each(["started", "progress", "completed", "failed"] satisfies TaskEventKind[])(
    "as %s names the task and carries its payload [EV-12]",
    (kind) => {
      const event: DurableEvent = { type: "task", taskId: "task_1", kind, payload: { done: 0.5 } };
      expect(durableEventCodec.decode(JSON.parse(JSON.stringify(durableEventCodec.encode(event))))).toEqual(event);
      expect(() => durableEventCodec.decode({ type: "task", kind, payload: null })).toThrow("taskId");
    },
  );
});
