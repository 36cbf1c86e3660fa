import { directiveCodec, type Directive, type DirectiveResult } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { stateOnly, withDirective, withDirectives } from "./directive-result.ts";

interface Counter {
  readonly count: number;
}

/** What a program writes: a pure function from a state and an event to a state and what is to be done. */
function count(state: Counter, event: "tick" | "alarm"): DirectiveResult<Counter> {
  if (event === "tick" && state.count < 2) return stateOnly({ count: state.count + 1 });
  if (event === "tick") return withDirective({ count: 0 }, { type: "run-instruction", instruction: "report", input: { of: state.count } });
  return withDirectives(state, [
    { type: "emit", event: { alarm: true } },
    { type: "schedule", action: "look again", delay: "30s" },
    { type: "stop", reason: "alarm" },
  ]);
}

describe("the result of a step that may direct the runtime", () => {
  it("is tested by comparing data: nothing runs, and no runtime is there [DI-01]", () => {
    expect(count({ count: 2 }, "tick")).toEqual({
      state: { count: 0 },
      directives: [{ type: "run-instruction", instruction: "report", input: { of: 2 } }],
    });
    expect(count({ count: 1 }, "alarm").directives.map(({ type }) => type)).toEqual(["emit", "schedule", "stop"]);
  });

  it("carries no directive, one, or many beside the state [DI-12]", () => {
    expect(count({ count: 0 }, "tick")).toEqual({ state: { count: 1 }, directives: [] });
    expect(count({ count: 2 }, "tick").directives).toHaveLength(1);
    const directives: Directive[] = [{ type: "stop" }];
    const result = withDirectives("state", directives);
    directives.pop();
    expect(result).toEqual({ state: "state", directives: [{ type: "stop" }] });
  });

  it("holds directives that are copied and serialised without loss [DI-01]", () => {
    for (const directive of count({ count: 1 }, "alarm").directives) {
      expect(structuredClone(directive)).toEqual(directive);
      expect(directiveCodec.decode(JSON.parse(JSON.stringify(directiveCodec.encode(directive))))).toEqual(directive);
    }
  });
});
