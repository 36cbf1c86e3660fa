import { PERMISSION_MODES, type PermissionMode, type PermissionPolicy } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePolicy } from "../agent/definition/permissions/compiled-policy.ts";
import { decidePermission } from "../agent/features/permissions/decide-permission.ts";
import { permissionModeOf, withPermissionMode } from "./permission-mode.ts";

const modes = fc.constantFrom(...PERMISSION_MODES);
const policies = fc.array(fc.record({ mode: modes, rules: fc.constantFrom([], [{ pattern: "deploy", behavior: "allow" as const }]) }), {
  minLength: 1,
  maxLength: 3,
});
const subjects = fc.constantFrom(
  { name: "look", effect: "read", risk: "none" } as const,
  { name: "edit", effect: "write", risk: "medium", category: "edit" } as const,
  { name: "deploy", effect: "write", risk: "high" } as const,
);
const RANK = { allow: 0, ask: 1, deny: 2 };

function behavior(given: readonly PermissionPolicy[], tool: typeof subjects extends fc.Arbitrary<infer S> ? S : never): number {
  return RANK[
    decidePermission({ policies: given.map((policy) => compilePolicy(policy)), tool, argumentText: "{}", cwd: "/work" }).behavior
  ];
}

describe("a permission mode that is set", () => {
  it("replaces the mode of the agent's own policy and keeps its rules", () => {
    const rules = [{ pattern: "bash", behavior: "deny" as const }];
    const authority = { policies: [{ mode: "plan-only" as const, rules }], depth: 3 };
    expect(withPermissionMode(authority, "bypass-all", true)).toEqual({ policies: [{ mode: "bypass-all", rules }], depth: 3 });
  });

  it("never allows more than policies that came from elsewhere, and never more than the mode itself", () => {
    fc.assert(
      fc.property(policies, modes, subjects, (given, mode, subject) => {
        const { policies: restricted } = withPermissionMode({ policies: given, depth: 0 }, mode, false);
        const least = Math.max(
          behavior(given, subject),
          behavior(
            given.map((policy) => ({ ...policy, mode })),
            subject,
          ),
        );
        expect(behavior(restricted, subject)).toBe(least);
      }),
    );
  });

  it.each<[readonly PermissionMode[], PermissionMode]>([
    [["accept-edits"], "accept-edits"],
    [["bypass-all", "default"], "default"],
    [["plan-only", "bypass-all"], "plan-only"],
    [["deny-unauthorized", "default"], "deny-unauthorized"],
    [[], "default"],
  ])("of policies with the modes %j is called %s", (of, name) => {
    expect(permissionModeOf({ policies: of.map((mode) => ({ mode, rules: [] })) })).toBe(name);
  });
});
