import type { ActionId, FsmStateId, FsmTransition, GuardCondition, Signal, SignalAction, SignalKind, SignalRoute } from "@keelson/protocol";
import { describe, expectTypeOf, it } from "vitest";
import { signalRoute } from "../../definition/signals/signal-router.ts";

describe("the words of signals and state machines", () => {
  it("a signal is a kind with a payload; kinds are known ones and any other text [SI-01, SI-02]", () => {
    expectTypeOf({ kind: "timer", payload: { at: 1 } }).toExtend<Signal>();
    expectTypeOf<"stop" | "user-message" | "tool-result" | "timer">().toExtend<SignalKind>();
    expectTypeOf<"order-shipped">().toExtend<SignalKind>();
    expectTypeOf({ kind: "timer" }).not.toExtend<Signal>();
  });

  it("a route has a kind, an action, a priority, and perhaps a predicate [SI-03, SI-04]", () => {
    expectTypeOf(signalRoute).returns.toEqualTypeOf<SignalRoute>();
    expectTypeOf<SignalAction["type"]>().toEqualTypeOf<"continue" | "graceful-stop" | "force-stop" | "transition" | "custom">();
    expectTypeOf({ kind: "stop", action: { type: "continue" as const }, priority: 0 }).toExtend<SignalRoute>();
    expectTypeOf({ kind: "stop", action: { type: "continue" as const } }).not.toExtend<SignalRoute>();
  });

  it("names of states and actions are texts that can't be taken for one another [FS-01, FS-10]", () => {
    expectTypeOf<FsmStateId>().toExtend<string>();
    expectTypeOf<FsmStateId>().not.toExtend<ActionId>();
    expectTypeOf<ActionId>().not.toExtend<FsmStateId>();
    expectTypeOf<string>().not.toExtend<ActionId>();
    expectTypeOf<FsmTransition>().toEqualTypeOf<{
      readonly target: FsmStateId;
      readonly guard?: GuardCondition;
      readonly priority: number;
    }>();
  });
});
