import type { PermissionRule } from "@keelson/protocol";

/** A rule that is about every call of one program: `bash(curl)`, `bash(curl*)`, `bash(curl *)`. */
const WHOLE_PROGRAM = /^bash\(([^\s*()\\]+)(?: ?\*{1,2})?\)$/;

/** Returns the programs that deny rules deny whatever their arguments are: a sandbox hides them, so that no other program starts them either. */
export function hiddenPrograms(rules: readonly PermissionRule[]): readonly string[] {
  return [...new Set(rules.flatMap(({ pattern, behavior }) => (behavior === "deny" ? (WHOLE_PROGRAM.exec(pattern)?.[1] ?? []) : [])))];
}
