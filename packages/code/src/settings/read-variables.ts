import { createCommandEnvironment } from "keelson/environment";
import { type SettingsEntry, unused } from "./settings-entry.ts";

/** Variables that steer Claude Code itself. */
const OF_CLAUDE =
  /^(?:ANTHROPIC_|CLAUDE_|CLAUDECODE$|DISABLE_(?:AUTOUPDATER|TELEMETRY|ERROR_REPORTING|BUG_COMMAND|COST_WARNINGS|NON_ESSENTIAL)|MAX_THINKING_TOKENS$|MAX_MCP_OUTPUT_TOKENS$|MCP_|BASH_(?:DEFAULT|MAX)_|USE_BUILTIN_RIPGREP$)/;

/** Reads `env`: variables for commands and hooks. No value is shown, because it may be a secret. */
export function readVariables(value: unknown): readonly SettingsEntry[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [unused("env", 'it must be an object of texts such as { "CI": "1" }')];
  return Object.entries(value).map(([name, given]: [string, unknown]): SettingsEntry => {
    const entry = `env ${name}`;
    if (!/^[A-Za-z_]\w*$/.test(name)) return unused(entry, "it is no name of a variable");
    if (typeof given !== "string") return unused(entry, "its value must be a text");
    if (OF_CLAUDE.test(name)) return unused(entry, "it steers Claude Code: keelson --help lists the variables and options of Keelson");
    if (name === "PATH") return unused(entry, "programs are found by the PATH that Keelson is started with");
    if (createCommandEnvironment({ [name]: given }, { pass: [] }).withheld.some(({ reason }) => reason === "secret"))
      return unused(
        entry,
        `it looks like a secret, which commands do not get: set it in your environment, and name it in policy.json: {"environment": {"pass": ["${name}"]}}`,
      );
    return { entry, kind: "opens", reason: "a variable of commands and hooks", values: { variables: { [name]: given } } };
  });
}
