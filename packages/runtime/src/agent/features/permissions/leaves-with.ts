import type { CommandEffect } from "@keelson/protocol";
import type { RuleVerdict } from "../../definition/permissions/compiled-policy.ts";
import { isEmpty, type JudgedCall } from "../../definition/permissions/judged-call.ts";
import { bindsHost, coversUnlisted, matchesCommand } from "../../definition/permissions/match-rule.ts";

/**
 * By which of its ways a call could carry something away, a phrase each: hosts and programs that no rule allows, secrets. What untrusted
 * text could have a model do is asked about by these.
 */
export function leavesWith(allow: readonly RuleVerdict[], { tool, effects }: JudgedCall): readonly string[] {
  // Whose results are somebody else's words, its calls reach that somebody, unless it says what it does.
  if (effects === undefined) return tool.untrusted === undefined ? [] : ["it doesn't say what it connects to"];
  const { hosts = [], commands = [], secrets = [], unknown, confined } = effects;
  const used = secrets.map((secret) => `it uses the secret ${JSON.stringify(secret)}`);
  // What a sandbox lets through is what its policy lists: that is a rule, too.
  if (confined?.reaches === "none" || confined?.reaches === "listed") return used;
  return [
    ...used,
    ...hosts.filter((host) => !allow.some((rule) => bindsHost(rule, host))).map((host) => `it connects to ${JSON.stringify(host)}`),
    ...commands
      .filter((command) => (command.readOnly !== true || command.caution !== undefined) && !isAllowed(allow, command))
      .map(({ text }) => `${JSON.stringify(text)} may connect to anything`),
    ...(isEmpty(unknown) ? [] : ["what it connects to can't be known by reading it"]),
  ];
}

function isAllowed(allow: readonly RuleVerdict[], command: CommandEffect): boolean {
  return allow.some(
    ({ own, compiled: { argument } }) =>
      own && argument !== undefined && matchesCommand(argument, command.text) && coversUnlisted(argument, command),
  );
}
