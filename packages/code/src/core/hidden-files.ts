import type { PermissionRule } from "@keelson/protocol";

/** A rule about one file or folder: `read_file(.env)`, `read_file(private/**)`. */
const ONE_PATH = /^read_file\((?!~)([^*()\\]*[^*()\\/])(?:\/\*\*)?\)$/;

/** Returns the files and folders that deny rules about reads name: a sandbox hides them, so that no command reads them in another way. */
export function hiddenFiles(rules: readonly PermissionRule[]): readonly string[] {
  return [...new Set(rules.flatMap(({ pattern, behavior }) => (behavior === "deny" ? (ONE_PATH.exec(pattern)?.[1] ?? []) : [])))];
}
