import {
  compareRisk,
  RISK_LEVELS,
  type ApprovalRequest,
  type Approver,
  type CallId,
  type Decision,
  type RiskLevel,
} from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { autoApprove, autoDeny, thresholdGate } from "./threshold-gate.ts";

const options = { signal: new AbortController().signal };
const ask = (risk: RiskLevel, operation = "bash", type: ApprovalRequest["type"] = "approval", line = "npm test"): ApprovalRequest => ({
  type,
  callId: "c_1" as CallId,
  token: "t",
  operation,
  description: "",
  risk,
  input: {},
  reason: "",
  expiresAt: 0,
  always: [
    { scope: "exact", rules: [`${operation}(${line})`] },
    { scope: "command", rules: line.split("; ").map((command) => `${operation}(${command.split(" ")[0]} *)`) },
    { scope: "tool", rules: [operation] },
  ],
});

/** Answers with the scripted decisions in turn and remembers what it was asked. */
function scripted(...decisions: (Decision | undefined)[]): Approver & { readonly asked: string[] } {
  const asked: string[] = [];
  return Object.assign((request: ApprovalRequest) => (asked.push(request.operation), decisions[asked.length - 1]), { asked });
}

describe("a threshold gate", () => {
  it("allows risk at or below its threshold and passes higher risk on [AP-06]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...RISK_LEVELS), fc.constantFrom(...RISK_LEVELS), async (threshold, risk) => {
        const inner = scripted({ type: "deny" });
        const decision = await thresholdGate(threshold, inner)(ask(risk), options);
        const passedOn = compareRisk(risk, threshold) > 0;
        expect(decision?.type).toBe(passedOn ? "deny" : "allow");
        expect(inner.asked).toEqual(passedOn ? ["bash"] : []);
      }),
    );
  });

  it("remembers allow-always by the rules that were shown, for any risk: not by the tool [AP-06, AP-07]", async () => {
    const inner = scripted({ type: "allow-always" }, { type: "allow-always", rules: ["bash(git *)"] }, { type: "deny" }, { type: "deny" });
    const gate = thresholdGate("none", inner);
    const decide = async (line: string) => (await gate(ask("high", "bash", "approval", line), options))?.type;
    expect(await decide("npm test")).toBe("allow-always");
    expect(await decide("npm test")).toBe("allow");
    expect(await decide("git status")).toBe("allow-always");
    expect(await decide("git push")).toBe("allow");
    expect(await decide("git push; rm x")).toBe("deny");
    const { always: _always, ...named } = ask("high");
    expect((await gate(named, options))?.type).toBe("deny");
  });

  it("remembers allow-always for the same operation, for any risk [AP-06, AP-07]", async () => {
    const inner = scripted({ type: "allow-always", by: "ada" }, { type: "deny" });
    const gate = thresholdGate("none", inner);
    expect(await gate(ask("high"), options)).toEqual({ type: "allow-always", by: "ada" });
    expect(await gate(ask("critical"), options)).toEqual({ type: "allow", by: "ada" });
    expect(await gate(ask("high", "write_file"), options)).toEqual({ type: "deny" });
    expect(inner.asked).toEqual(["bash", "write_file"]);
  });

  it("looks at what it remembers before the threshold [AP-07]", async () => {
    const inner = scripted({ type: "allow-always", by: "ada" });
    const gate = thresholdGate("low", inner);
    await gate(ask("high"), options);
    expect(await gate(ask("none"), options)).toEqual({ type: "allow", by: "ada" });
  });

  it("remembers nothing but allow-always, each gate for itself", async () => {
    const inner = scripted({ type: "allow" }, { type: "allow-modified", input: 1 }, undefined, { type: "abort" });
    const gate = thresholdGate("none", inner);
    const types = [];
    for (let turn = 0; turn < 4; turn++) types.push((await gate(ask("high"), options))?.type);
    expect(types).toEqual(["allow", "allow-modified", undefined, "abort"]);
    expect(await thresholdGate("none", scripted(undefined))(ask("high"), options)).toBeUndefined();
  });

  it("never answers what became of a call: that goes to whoever can look", async () => {
    const inner = scripted({ type: "allow-always" }, { type: "retry" });
    const gate = thresholdGate("critical", inner);
    expect((await gate(ask("none", "bash", "decision"), options))?.type).toBe("allow-always");
    expect((await gate(ask("none", "bash", "decision"), options))?.type).toBe("retry");
  });
});

it("autoApprove always allows, autoDeny always denies, and both leave an unknown outcome open [AV-02, AV-04]", () => {
  for (const risk of RISK_LEVELS) {
    expect(autoApprove(ask(risk), options)).toMatchObject({ type: "allow" });
    expect(autoDeny(ask(risk), options)).toMatchObject({ type: "deny" });
    expect([autoApprove(ask(risk, "bash", "decision"), options), autoDeny(ask(risk, "bash", "decision"), options)]).toEqual([
      undefined,
      undefined,
    ]);
  }
});
