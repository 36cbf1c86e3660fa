import type { PermissionDecision } from "../../definition/permissions/permission-decision.ts";
import { isEmpty, type JudgedCall } from "../../definition/permissions/judged-call.ts";
import type { RuleVerdict } from "../../definition/permissions/compiled-policy.ts";
import { bindsHost, bindsRead, bindsWrite, coversUnlisted, matchesCommand } from "../../definition/permissions/match-rule.ts";
import { type Glob, matchesGlob } from "../../definition/permissions/glob.ts";
import type { SeenPath } from "../../definition/permissions/path-pattern.ts";

/** What allow rules say of a call. */
export interface Coverage {
  /** They cover all of it. */
  readonly decision?: PermissionDecision;
  /** What they don't cover, where the call has parts. */
  readonly open: readonly OpenPart[];
}

export interface OpenPart {
  /** The command, where it is one that a rule could cover. */
  readonly command?: string;
  /** For a person: what it is, and why no rule lets it run. */
  readonly told: string;
  /** The command, also where no rule could cover it, and the reason why no rule does. Without a reason no rule names it. */
  readonly text?: string;
  readonly why?: string;
}

const NOTHING_OPEN: readonly OpenPart[] = [];

/**
 * Holds a call against allow rules. Each part has to be covered by one of them, or be
 * known to change nothing, or one without arguments covers the whole. That it is exactly what a rule says was looked at before.
 */
export function coverCall(allow: readonly RuleVerdict[], call: JudgedCall): Coverage {
  const parts = coverParts(allow, call);
  if (parts.decision !== undefined) return parts;
  const blanket = allow.find(({ own, compiled }) => own && compiled.argument === undefined);
  return blanket === undefined ? parts : { decision: blanket.decision, open: NOTHING_OPEN };
}

function coverParts(allow: readonly RuleVerdict[], call: JudgedCall): Coverage {
  const { effects } = call;
  if (effects === undefined) return byText(allow, call);
  if (!isEmpty(effects.unknown)) return { open: (effects.unknown ?? []).map((told) => ({ told })) };
  if (effects.commands !== undefined) return byCommands(allow, call, effects.commands);
  if (call.reads.length + call.writes.length > 0 || !isEmpty(effects.hosts)) return byTouched(allow, call, effects.hosts ?? []);
  return byText(allow, call);
}

function byText(allow: readonly RuleVerdict[], call: JudgedCall): Coverage {
  const found = allow.find(({ own, compiled }) => own && compiled.argument !== undefined && matchesGlob(compiled.argument, call.text()));
  return { ...(found && { decision: found.decision }), open: NOTHING_OPEN };
}

type Commands = NonNullable<NonNullable<JudgedCall["effects"]>["commands"]>;

function byCommands(allow: readonly RuleVerdict[], call: JudgedCall, commands: Commands): Coverage {
  const open: OpenPart[] = [];
  let first: PermissionDecision | undefined;
  let free = 0;
  for (const command of commands) {
    const { text, readOnly, caution, asks, unlisted = [] } = command;
    if (caution !== undefined) {
      open.push({ told: `${quoted(text)}: ${caution}`, text, why: caution });
      continue;
    }
    const named = allow.filter(
      ({ own, compiled: { argument } }) =>
        own && argument !== undefined && (matchesCommand(argument, text) || coversStarted(argument, command)),
    );
    const rule = named.find(({ compiled: { argument } }) => argument !== undefined && coversUnlisted(argument, command));
    if (rule !== undefined) first ??= rule.decision;
    else if (readOnly) free++;
    else {
      const why = asks ?? (named.length > 0 ? notUnderstood(unlisted) : undefined);
      open.push({
        command: text,
        told: `${quoted(text)}: ${asks?.replace(/\.$/, "") ?? whyOpen(unlisted)}`,
        text,
        ...(why !== undefined && { why }),
      });
    }
  }
  // What is read can't be told apart by commands: where one runs only because it changes nothing, all of it has to be the workspace's.
  if (free > 0)
    for (const { inside, shown } of call.reads) if (!inside) open.push({ told: `${quoted(shown)} lies outside of the working directory` });
  if (free === commands.length) {
    for (const { shown } of call.writes) open.push({ told: `it writes ${quoted(shown)}` });
    for (const host of call.effects?.hosts ?? []) open.push({ told: `it connects to ${quoted(host)}` });
  }
  return { ...(open.length === 0 && first !== undefined && { decision: first }), open };
}

/** The words that keep a wildcard from covering a command are named, because they decide what it does. */
function whyOpen(unlisted: readonly string[]): string {
  return unlisted.length === 0 ? "no rule allows it" : `no rule allows it with ${wordsOf(unlisted)}, which is not understood`;
}

function notUnderstood(unlisted: readonly string[]): string {
  return `${wordsOf(unlisted)} ${unlisted.length === 1 ? "is" : "are"} not understood`;
}

function wordsOf(unlisted: readonly string[]): string {
  const shown = unlisted.slice(0, MAX_SHOWN).map(quoted).join(", ");
  const more = unlisted.length > MAX_SHOWN ? ` and ${unlisted.length - MAX_SHOWN} more` : "";
  return `${shown}${more}`;
}
const MAX_SHOWN = 5;

/** `npx vitest *` names what npx starts; `npx *` doesn't. */
function coversStarted(argument: Glob, { text, startedBy }: Commands[number]): boolean {
  if (startedBy === undefined || !startedBy.endsWith(text) || !matchesCommand(argument, startedBy)) return false;
  const program = text.split(" ", 1)[0] ?? "";
  const named = startedBy.slice(0, startedBy.length - text.length) + program;
  const [literal] = argument.literals;
  return literal === named || literal.startsWith(`${named} `);
}

function byTouched(allow: readonly RuleVerdict[], call: JudgedCall, hosts: readonly string[]): Coverage {
  const { reads, writes } = call;
  const used: RuleVerdict[] = [];
  const isCovered = (binds: (rule: RuleVerdict) => boolean): boolean => {
    const found = allow.find(binds);
    if (found !== undefined) used.push(found);
    return found !== undefined;
  };
  const written = new Set(writes.map(({ shown }) => shown));
  const isRead = (path: SeenPath): boolean => written.has(path.shown) || isCovered((rule) => bindsRead(rule, path));
  const covered =
    writes.every((path) => isCovered((rule) => bindsWrite(rule, path))) &&
    reads.every(isRead) &&
    hosts.every((host) => isCovered((rule) => bindsHost(rule, host)));
  return { ...(covered && used[0] && { decision: used[0].decision }), open: NOTHING_OPEN };
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
