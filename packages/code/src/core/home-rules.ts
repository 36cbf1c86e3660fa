import { homedir } from "node:os";
import type { PermissionRule } from "@keelson/protocol";

/** A rule about paths in the home folder. Of commands, the text of the line is meant. */
const HOME_RULE = /^(?!bash\()([^()]+)\(~((?:\/.*)?)\)$/s;

/**
 * Returns rules in which `~` means the home folder: calls are judged by the absolute paths that they lead to. A rule that denies or asks also stays as
 * it was written.
 */
export function withHomeRules(rules: readonly PermissionRule[], home: string = homedir()): readonly PermissionRule[] {
  // A star in its name would make a rule about other folders.
  if (/[*?()[\]\\]/.test(home)) return rules;
  return rules.flatMap((rule) => {
    const [, tool, rest] = HOME_RULE.exec(rule.pattern) ?? [];
    if (tool === undefined) return [rule];
    const absolute = { ...rule, pattern: `${tool}(${home.replace(/\/+$/, "")}${rest})` };
    return rule.behavior === "allow" && !tool.startsWith("mcp") ? [absolute] : [rule, absolute];
  });
}
