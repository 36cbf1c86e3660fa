import type { AgentEvent } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { tasksOf, watchTasks } from "./session-tasks.ts";

const one = { text: "Read", state: "done" } as const;
const two = { text: "Write", state: "doing" } as const;

function calls(...inputs: readonly unknown[]): AgentEvent {
  return { type: "tool-calls-start", calls: inputs.map((input, index) => ({ callId: `c${index}`, name: "update_tasks", input })) } as never;
}
function result(index: number, more: object = {}): AgentEvent {
  return { type: "tool-result", callId: `c${index}`, name: "update_tasks", isError: false, ...more } as never;
}

describe("the list of tasks of a session", () => {
  it("is what its tools keep, and empty where that is no list", () => {
    expect(tasksOf({ kept: { tasks: [one, two] } })).toEqual([one, two]);
    for (const kept of [undefined, {}, { tasks: "none" }, { tasks: [{ text: "x", state: "late" }] }, { tasks: [7] }])
      expect(tasksOf(kept === undefined ? {} : { kept })).toEqual([]);
  });

  it("changes with each call that succeeded, and with no other", () => {
    const watch = watchTasks([one]);
    expect(watch.see(calls({ tasks: [one, two] }, { tasks: [two] }))).toBe(false);
    expect(watch.tasks).toEqual([one]);
    expect([watch.see(result(0)), watch.tasks]).toEqual([true, [one, two]]);
    expect([watch.see(result(1, { isError: true })), watch.tasks]).toEqual([false, [one, two]]);
    expect(watch.see(result(1, { name: "bash" }))).toBe(false);
    watch.see(calls({ tasks: [] }));
    expect([watch.see(result(0)), watch.tasks]).toEqual([true, []]);
  });

  it("is not that of a child agent", () => {
    const watch = watchTasks();
    watch.see({ ...calls({ tasks: [one] }), path: ["helper"] });
    expect(watch.see({ ...result(0), path: ["helper"] })).toBe(false);
    expect(watch.tasks).toEqual([]);
  });
});
