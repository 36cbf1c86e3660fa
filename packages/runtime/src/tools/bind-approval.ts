import type { Tool } from "@keelson/protocol";

/** Binds a `needsApproval` to the object that has it. The function keeps its name, which is part of the digest of an agent. */
export function bindApproval<In>(
  owner: object,
  needsApproval: NonNullable<Tool<In>["needsApproval"]>,
): NonNullable<Tool<In>["needsApproval"]> {
  if (needsApproval === true) return needsApproval;
  return Object.defineProperty(needsApproval.bind(owner), "name", { value: needsApproval.name });
}
