import type { FilesystemPolicy } from "./sandbox-policy.ts";
import { isWithin } from "./policy-path.ts";

type Rule = "write" | "read" | "deny";

/**
 * What the roots and denied paths of a policy say of a path: the deepest that holds it decides, and at the same path a denial. All of
 * them, and the path, are absolute and normal.
 */
export function accessTo(
  { writableRoots = [], readableRoots, deniedPaths = [] }: FilesystemPolicy,
  path: string,
): "write" | "read" | "none" {
  let deepest = "";
  let rule: Rule = readableRoots === undefined ? "read" : "deny";
  const look = (roots: readonly string[], says: Rule): void => {
    for (const root of roots)
      if (isWithin(path, root) && root.length >= deepest.length) {
        deepest = root;
        rule = says;
      }
  };
  // Those that come later hold at the same path.
  look(readableRoots ?? [], "read");
  look(writableRoots, "write");
  look(deniedPaths, "deny");
  return rule === "deny" ? "none" : rule;
}
