import { describe, expect, it } from "vitest";
import { exitReasonCodec } from "../decode/operator-codec.ts";
import { EXIT_CODES, isRunReason, isSuspendReason, type RunReason } from "../reason.ts";
import { formatStopReason, toStopReason } from "./to-stop-reason.ts";
import { toOperatorExitReason } from "./to-operator-exit-reason.ts";
import { toTerminationReason } from "./to-termination-reason.ts";

const reasons = Object.keys(EXIT_CODES) as RunReason[];
const future = "from-the-future" as RunReason;

it("has every ending that the sources name [OP-07, OP-08, EV-18, EV-19, WE-06]", () => {
  expect(reasons).toEqual(
    expect.arrayContaining([
      "complete",
      "max-turns",
      "budget-exhausted",
      "circuit-breaker",
      "timeout",
      "halted",
      "error",
      "safety-stop",
      "awaiting-approval",
      "handed-off",
      "stopped",
      "aborted",
      "no-action",
    ]),
  );
  expect(reasons.filter(isSuspendReason)).toEqual([
    "awaiting-approval",
    "awaiting-decision",
    "awaiting-signal",
    "awaiting-timer",
    "awaiting-child",
  ]);
  expect(["complete", "toString", "", "from-the-future"].map(isRunReason)).toEqual([true, false, false, false]);
});

describe("an ending as a termination reason", () => {
  it("has one word for each of ours [EV-18, EV-19]", () => {
    expect(Object.fromEntries(reasons.map((reason) => [reason, toTerminationReason(reason)]))).toEqual({
      "complete": "complete",
      "no-action": "complete",
      "handed-off": "complete",
      "max-turns": "max-turns-exceeded",
      "budget-exhausted": "budget-exceeded",
      "stopped": "stopped",
      "aborted": "aborted",
      "error": "error",
      "circuit-breaker": "error",
      "safety-stop": "error",
      "halted": "error",
      "timeout": "error",
      "max-output": "error",
      "awaiting-approval": "stopped",
      "awaiting-decision": "stopped",
      "awaiting-signal": "stopped",
      "awaiting-timer": "stopped",
      "awaiting-child": "stopped",
    });
    expect(toTerminationReason(future)).toBe("error");
    expect(toTerminationReason("constructor" as RunReason)).toBe("error");
  });
});

describe("an ending as a stop reason", () => {
  it("is text, the limit of iterations, nothing to do, or an error that names ours [WE-06]", () => {
    const known = {
      "complete": "text-response",
      "handed-off": "text-response",
      "no-action": "no-action",
      "max-turns": "max-iterations",
    } as Partial<Record<RunReason, string>>;
    for (const reason of reasons) {
      expect(toStopReason(reason)).toEqual(known[reason] === undefined ? { type: "error", message: reason } : { type: known[reason] });
    }
    expect(toStopReason("error", "the model is gone")).toEqual({ type: "error", message: "the model is gone" });
    expect(toStopReason(future)).toEqual({ type: "error", message: "from-the-future" });
  });

  it("is written as text_response, max_iterations, no_action or error: message [WE-07]", () => {
    expect(["complete", "max-turns", "no-action", "timeout"].map((reason) => formatStopReason(toStopReason(reason as RunReason)))).toEqual([
      "text_response",
      "max_iterations",
      "no_action",
      "error: timeout",
    ]);
  });
});

describe("an ending as an operator's exit reason", () => {
  it("keeps its name, and survives the wire [OP-06, OP-08]", () => {
    for (const reason of reasons) {
      const exit = toOperatorExitReason(reason);
      expect(exit).toEqual({ type: reason });
      expect(exitReasonCodec.decode(JSON.parse(JSON.stringify(exitReasonCodec.encode(exit))))).toEqual(exit);
    }
  });

  it("says who halted it, or what the safety stop was about [OP-08, OP-09]", () => {
    expect(toOperatorExitReason("halted", { by: "plugin", reason: "no" })).toEqual({ type: "halted", by: "plugin", reason: "no" });
    expect(toOperatorExitReason("safety-stop", { reason: "violence" })).toEqual({ type: "safety-stop", reason: "violence" });
    expect(toOperatorExitReason("halted", { by: "moon", reason: "no" })).toEqual({ type: "halted" });
    expect(toOperatorExitReason("complete", { by: "rule", reason: "x" })).toEqual({ type: "complete" });
  });
});
