import {
  compareUsd,
  fromPicoUsd,
  PERMISSION_MODES,
  RISK_LEVELS,
  type Authority,
  type PermissionBehavior,
  type PermissionPolicy,
} from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePolicy } from "./compiled-policy.ts";
import { decidePermission } from "../../features/permissions/decide-permission.ts";
import type { PermissionSubject } from "./judged-call.ts";
import { narrowAuthority } from "./narrow-authority.ts";

const toolName = fc.constantFrom("bash", "read_file", "edit_file");
const policy: fc.Arbitrary<PermissionPolicy> = fc.record({
  mode: fc.constantFrom(...PERMISSION_MODES),
  rules: fc.array(
    fc.record({
      pattern: fc.constantFrom("*", "bash", "bash(npm*)", "bash(rm*)", "*_file", "read_file(a)", "edit*"),
      behavior: fc.constantFrom<PermissionBehavior>("allow", "deny", "ask"),
    }),
    { maxLength: 3 },
  ),
  bounds: fc.option(fc.constantFrom({ commands: { denied: ["npm"] } }, { commands: { allowed: ["npm"] } }), { nil: undefined }),
});
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const authority: fc.Arbitrary<Authority> = fc
  .record({
    policies: fc.array(policy, { maxLength: 3 }),
    allowedTools: optional(fc.uniqueArray(toolName)),
    maxCost: optional(fc.bigInt({ min: 0n, max: 5n }).map(fromPicoUsd)),
    budgets: optional(
      fc.array(
        fc.record(
          {
            id: fc.constantFrom("a", "b"),
            maxCost: fc.bigInt({ min: 0n, max: 5n }).map(fromPicoUsd),
            maxTokens: fc.nat({ max: 5 }),
            maxTurns: fc.nat({ max: 5 }),
            maxToolCalls: fc.nat({ max: 5 }),
            maxModelCalls: fc.nat({ max: 5 }),
            unknownPrice: fc.constantFrom("refuse", "allow"),
          },
          { requiredKeys: ["id"] },
        ),
        { maxLength: 3 },
      ),
    ),
    sandboxes: optional(
      fc.array(fc.record({ enabled: fc.constant(true), deniedCommands: fc.subarray(["curl", "wget"]) }), { maxLength: 3 }),
    ),
    deadline: optional(fc.nat({ max: 5 })),
    depth: fc.nat({ max: 5 }),
    untrusted: optional(fc.uniqueArray(fc.constantFrom("a page", "a mail", "a file"), { minLength: 1 })),
  })
  .map((record) => JSON.parse(JSON.stringify(record)) as Authority);
const tool: fc.Arbitrary<PermissionSubject> = fc.record(
  {
    name: toolName,
    effect: fc.constantFrom("read", "idempotent", "write"),
    risk: fc.constantFrom(...RISK_LEVELS),
    category: fc.constantFrom("edit", "shell"),
  },
  { requiredKeys: ["name", "effect", "risk"] },
);
const argument = fc.constantFrom("a", "npm test", "rm x", "npm test; rm x");
const STRICTNESS = { allow: 0, ask: 1, deny: 2 };

function decide(given: Authority, subject: PermissionSubject, argumentText: string) {
  return decidePermission({
    policies: given.policies.map((one) => compilePolicy(one)),
    tool: subject,
    argumentText,
    allowedTools: given.allowedTools,
    effects: { hosts: ["host.example"] },
    untrusted: given.untrusted,
  }).behavior;
}

describe("narrowing an authority", () => {
  it("never widens it: no call gets an easier verdict, no limit grows", () => {
    fc.assert(
      fc.property(authority, authority, tool, argument, (parent, by, subject, text) => {
        const child = narrowAuthority(parent, by);
        for (const wider of [parent, by]) {
          expect(STRICTNESS[decide(child, subject, text)]).toBeGreaterThanOrEqual(STRICTNESS[decide(wider, subject, text)]);
          if (wider.maxCost !== undefined) expect(compareUsd(child.maxCost!, wider.maxCost)).toBeLessThanOrEqual(0);
          for (const scope of wider.budgets ?? []) {
            const kept = child.budgets?.find(({ id }) => id === scope.id);
            if (scope.maxCost !== undefined) expect(compareUsd(kept!.maxCost!, scope.maxCost)).toBeLessThanOrEqual(0);
            if (scope.maxCost !== undefined && scope.unknownPrice !== "allow") expect(kept!.unknownPrice).toBeUndefined();
            for (const limit of ["maxTokens", "maxTurns", "maxToolCalls", "maxModelCalls"] as const)
              if (scope[limit] !== undefined) expect(kept![limit]).toBeLessThanOrEqual(scope[limit]);
          }
          if (wider.deadline !== undefined) expect(child.deadline).toBeLessThanOrEqual(wider.deadline);
          expect(child.depth).toBeLessThanOrEqual(wider.depth);
        }
      }),
    );
  });

  it("takes away no more than either side does that has seen the untrusted text of both", () => {
    fc.assert(
      fc.property(authority, authority, tool, argument, (parent, by, subject, text) => {
        const child = narrowAuthority(parent, by);
        // A policy asks about what may carry untrusted text away: with none, that text changes nothing, and without such text the policy doesn't ask.
        const seen = child.untrusted === undefined ? {} : { untrusted: child.untrusted };
        const verdicts = [parent, by].map((side) => STRICTNESS[decide({ ...side, ...seen }, subject, text)]);
        expect(STRICTNESS[decide(child, subject, text)]).toBe(Math.max(...verdicts));
      }),
    );
  });

  it("is associative", () => {
    fc.assert(
      fc.property(authority, authority, authority, (a, b, c) => {
        expect(narrowAuthority(narrowAuthority(a, b), c)).toStrictEqual(narrowAuthority(a, narrowAuthority(b, c)));
      }),
    );
  });

  it("is idempotent", () => {
    fc.assert(
      fc.property(authority, authority, (a, b) => {
        const once = narrowAuthority(a, b);
        expect(narrowAuthority(once, b)).toStrictEqual(once);
        expect(narrowAuthority(once, once)).toStrictEqual(once);
      }),
    );
  });

  it("leaves a child of a bypass-all parent the parent's rights minus its own rules", () => {
    const parent: Authority = { policies: [{ mode: "bypass-all", rules: [] }], depth: 3 };
    const child = narrowAuthority(parent, { policy: { rules: [{ pattern: "bash(rm*)", behavior: "deny" }] }, depth: parent.depth - 1 });
    const bash: PermissionSubject = { name: "bash", effect: "write", risk: "high" };
    expect(decide(child, bash, "npm test")).toBe("allow");
    expect(decide(child, bash, "rm x")).toBe("deny");
    expect(child.depth).toBe(2);
  });
});
