import type { Content, Role } from "@keelson/protocol";

/** Some wires let the user give the results of tools; ours has a role for that. */
export function roleOf(role: unknown, parts: readonly Content[]): Role {
  if (role === "assistant") return "assistant";
  return parts.length > 0 && parts.every((part) => part.type === "tool-result") ? "tool" : "user";
}
