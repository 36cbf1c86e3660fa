import type { ApprovalRequest, Decision, JsonValue, PermissionMode } from "@keelson/protocol";

/** The name of the tool that presents a plan. */
export const PLAN_TOOL = "present_plan";

/** The answers of a person to a plan: carry it out, carry it out with edits of files unasked, or plan further. */
export const PLAN_DECISIONS = ["accept", "accept-edits", "keep-planning"] as const;

/** The answer of a person to a plan. */
export type PlanAnswer = {
  readonly decision: (typeof PLAN_DECISIONS)[number];
  /** The words about what is to be planned otherwise, or a remark. */
  readonly words?: string;
  /** The plan as the person changed it. */
  readonly plan?: string;
};

/** Returns the plan that a call presents; empty if there is none. */
export function planIn(input: JsonValue | undefined): string {
  const { plan } = (typeof input === "object" && input !== null ? input : {}) as { readonly plan?: JsonValue };
  return typeof plan === "string" ? plan : "";
}

/** Reads the value of an answer. One that says nothing clear does not accept the plan. */
export function readPlanAnswer(value: JsonValue): PlanAnswer {
  const { decision, words, plan } = (value ?? {}) as { readonly [member: string]: JsonValue | undefined };
  const known = PLAN_DECISIONS.find((name) => name === decision) ?? "keep-planning";
  return { decision: known, ...(typeof words === "string" && { words }), ...(typeof plan === "string" && { plan }) };
}

/**
 * Returns the permission mode that has to be set before a question gets this decision, because it accepts a plan that could not be carried out in the mode
 * that holds. `undefined`: none has to be set.
 */
export function modeToCarryOut(
  { operation }: Pick<ApprovalRequest, "operation">,
  decision: Decision,
  held: PermissionMode | undefined,
): PermissionMode | undefined {
  if (operation !== PLAN_TOOL || decision.type !== "supply") return undefined;
  switch (readPlanAnswer(decision.output).decision) {
    case "keep-planning":
      return undefined;
    case "accept":
      return held === "plan-only" ? "default" : undefined;
    case "accept-edits":
      return held === "plan-only" || held === "default" ? "accept-edits" : undefined;
  }
}
