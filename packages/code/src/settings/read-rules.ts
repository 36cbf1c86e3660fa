import { homedir } from "node:os";
import { AgentError, PERMISSION_MODES, type PermissionBehavior, type PermissionMode } from "@keelson/protocol";
import { rulesFromClaude } from "keelson/agent";
import { readPolicy } from "keelson/security";
import { type SettingsEntry, unused } from "./settings-entry.ts";

const BEHAVIORS: readonly PermissionBehavior[] = ["deny", "ask", "allow"];

/** Reads `permissions`: rules and modes in Claude's spelling, or in ours. */
export function readPermissions(value: unknown): readonly SettingsEntry[] {
  if (!isFields(value)) return [unused("permissions", 'it must be an object such as { "deny": ["Read(./.env)"] }', true)];
  return Object.entries(value).flatMap(([name, given]): readonly SettingsEntry[] => {
    const behavior = BEHAVIORS.find((known) => known === name);
    if (behavior !== undefined) return readRules(behavior, given);
    if (name === "defaultMode" || name === "mode") return [readMode(`permissions.${name}`, given)];
    if (name === "additionalDirectories") return readFolders(given);
    if (name === "disableBypassPermissionsMode")
      return [
        unused(
          `permissions.${name}`,
          'it is not supported: no run bypasses permissions without --permission-mode bypass-all, and policy.json can set a "mode"',
          true,
        ),
      ];
    return [unused(`permissions.${name}`, "it is not known here")];
  });
}

function readRules(behavior: PermissionBehavior, value: unknown): readonly SettingsEntry[] {
  const place = `permissions.${behavior}`;
  const isGuard = behavior !== "allow";
  if (!Array.isArray(value)) return [unused(place, 'it must be a list of rules such as ["Bash(npm run test:*)"]', isGuard)];
  return value.map((rule: unknown): SettingsEntry => {
    const entry = `${place} ${typeof rule === "string" ? rule : JSON.stringify(rule)}`;
    const patterns = typeof rule === "string" && isOwnSpelling(rule) ? ownRule(rule, behavior) : claudeRule(rule, behavior);
    if (typeof patterns === "string") return unused(entry, patterns, isGuard);
    return {
      entry,
      kind: isGuard ? "confines" : "opens",
      reason: `${behavior} rule ${patterns.join(", ")}`,
      values: { rules: patterns.map((pattern) => ({ pattern, behavior })) },
    };
  });
}

/** Tools of others begin with a capital letter; those of servers have the same name here and there. */
function isOwnSpelling(rule: string): boolean {
  return /^[a-z*]/.test(rule) && !rule.startsWith("mcp__");
}

/** @returns patterns, or the reason why there are none */
function ownRule(rule: string, behavior: PermissionBehavior): readonly string[] | string {
  try {
    return readPolicy({ permissions: { [behavior]: [rule] } }).permissions.rules.map(({ pattern }) => pattern);
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    return error.message;
  }
}

function claudeRule(rule: unknown, behavior: PermissionBehavior): readonly string[] | string {
  try {
    const { rules, untranslated } = rulesFromClaude({ permissions: { [behavior]: [rule] } }, { home: homedir() });
    return untranslated[0]?.why ?? rules.map(({ pattern }) => pattern);
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    return error.message;
  }
}

const CLAUDE_MODES: { readonly [name: string]: PermissionMode } = {
  default: "default",
  acceptEdits: "accept-edits",
  plan: "plan-only",
  dontAsk: "deny-unauthorized",
};

function readMode(place: string, value: unknown): SettingsEntry {
  const entry = `${place} ${typeof value === "string" ? value : JSON.stringify(value)}`;
  if (value === "bypassPermissions" || value === "bypass-all")
    return unused(entry, "no settings file switches all questions off: start with --permission-mode bypass-all if you mean it");
  const own = PERMISSION_MODES.find((mode) => mode === value);
  const mode = own ?? (typeof value === "string" && Object.hasOwn(CLAUDE_MODES, value) ? CLAUDE_MODES[value] : undefined);
  if (mode === undefined) return unused(entry, `there is no such permission mode here; there are ${PERMISSION_MODES.join(", ")}`, true);
  return { entry, kind: "opens", reason: `permission mode ${mode}, if neither an option nor policy.json names one`, values: { mode } };
}

function readFolders(value: unknown): readonly SettingsEntry[] {
  const place = "permissions.additionalDirectories";
  if (!Array.isArray(value)) return [unused(place, 'it must be a list of folders such as ["../shared"]')];
  return value.map((folder: unknown): SettingsEntry => {
    const entry = `${place} ${typeof folder === "string" ? folder : JSON.stringify(folder)}`;
    if (typeof folder !== "string" || folder.trim() === "") return unused(entry, "it is no path");
    return { entry, kind: "opens", reason: "a folder of the session, as with --add-dir", values: { folders: [folder] } };
  });
}

function isFields(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
