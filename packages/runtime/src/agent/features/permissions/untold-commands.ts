import type { CallEffects } from "@keelson/protocol";
import type { CompiledPolicy, RuleVerdict, ToolRules } from "../../definition/permissions/compiled-policy.ts";
import type { JudgedCall } from "../../definition/permissions/judged-call.ts";
import { mayNameCommand } from "../../definition/permissions/match-rule.ts";
import { openGuards } from "./open-guards.ts";

/** A rule and the command that it may be about. */
export interface MaybeNamed {
  readonly rule: RuleVerdict;
  readonly text: string;
}

/** Returns the first deny or ask rule that is about a command, if the line computes the right words for it. */
export function computedName({ deny, ask }: ToolRules, { effects }: JudgedCall): MaybeNamed | undefined {
  const computed = (effects?.commands ?? []).filter(({ pattern }) => pattern !== undefined);
  if (computed.length === 0) return undefined;
  for (const rule of [...deny, ...ask]) {
    const { argument } = rule.compiled;
    const found = rule.own && argument !== undefined ? computed.find((command) => mayNameCommand(argument, command)) : undefined;
    if (found !== undefined) return { rule, text: found.text };
  }
  return undefined;
}

/** Returns what can't be known of a call, a sentence each, if some rule or policy denies or asks about what it could be. */
export function untoldOf(policy: CompiledPolicy, rules: ToolRules, call: JudgedCall): readonly string[] {
  const { effects } = call;
  if (effects === undefined) return [];
  const isBound = policy.bounds !== undefined && effects.confined === undefined;
  if (!isBound && (!rules.guards || openGuards(rules, call).length === 0)) return [];
  return [...(effects.unknown ?? []), ...notUnderstood(effects)];
}

function notUnderstood({ commands = [] }: CallEffects): readonly string[] {
  return commands.flatMap(({ text, unlisted = [], unknownProgram }) => {
    if (unlisted.length > 0)
      return [`${JSON.stringify(text)} is not understood: ${unlisted.map((word) => JSON.stringify(word)).join(", ")}.`];
    return unknownProgram === true ? [`The program of ${JSON.stringify(text)} is in no table.`] : [];
  });
}
