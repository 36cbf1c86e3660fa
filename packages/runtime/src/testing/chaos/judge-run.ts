import type { JsonValue } from "@keelson/protocol";
import type { RunOutcome } from "../../agent/definition/run.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import type { LivedRun } from "./live-run.ts";

/** What a disturbed run came to, beside the undisturbed one. */
export interface Judgement {
  readonly problems: readonly string[];
  /** Why it ended otherwise, where there is a reason that makes it right. */
  readonly explained?: string;
}

/** Held against the run that nothing befell. */
export function judgeRun(run: LivedRun, undisturbed: LivedRun): Judgement {
  const problems = [...run.problems];
  const { outcome } = run;
  const expected = undisturbed.outcome;
  if (outcome === undefined || expected === undefined)
    return { problems: outcome === undefined ? [...problems, "it did not end"] : problems };
  const explained = explanationOf(run, undisturbed);
  const difference = differenceOf(outcome, expected);
  const changed = difference === undefined ? changesOf(run, undisturbed) : [difference];
  problems.push(...moreDeeds(run, undisturbed));
  if (changed.length === 0) return { problems };
  return explained === undefined ? { problems: [...problems, ...changed] } : { problems, explained: `${changed.join("; ")}: ${explained}` };
}

/** In the world, where the end is the same. */
function changesOf(run: LivedRun, undisturbed: LivedRun): readonly string[] {
  const changed = [...fewerDeeds(run, undisturbed)];
  const world = jsonOf(run.world);
  const before = jsonOf(undisturbed.world);
  if (world !== before) changed.push(`the world is ${shown(world)} after it, and ${shown(before)} after the undisturbed run`);
  return changed;
}

function differenceOf(outcome: RunOutcome<unknown>, expected: RunOutcome<unknown>): string | undefined {
  if (outcome.reason !== expected.reason)
    return `it ended with ${outcome.reason}${outcome.error === undefined ? "" : ` (${outcome.error.message})`}, not with ${expected.reason}`;
  if (outcome.text !== expected.text) return `it said ${shown(outcome.text)} in the end, not ${shown(expected.text)}`;
  if (jsonOf(outcome.output) !== jsonOf(expected.output))
    return `its output is ${shown(jsonOf(outcome.output))}, not ${shown(jsonOf(expected.output))}`;
  return undefined;
}

function explanationOf({ befallen, outcome, childEnds, unknown }: LivedRun, undisturbed: LivedRun): string | undefined {
  if (unknown.some(({ answer }) => answer === "fail"))
    return `nobody could know whether ${unknown.map(({ tool }) => `\`${tool}\``).join(", ")} had taken effect`;
  for (const { fault } of befallen)
    for (const reason of fault.mayEnd ?? [])
      if (outcome?.reason === reason || countOf(childEnds, reason) > countOf(undisturbed.childEnds, reason))
        return `${outcome?.reason === reason ? "the agent" : "an agent below it"} does not get over "${fault.name}"`;
  if (outcome?.reason === undisturbed.outcome?.reason) return undefined;
  // What broke off counts as spent at its worst case; and time went by.
  if (outcome?.reason === "budget-exhausted") return "what broke off counts as spent";
  return outcome?.reason === "timeout" ? "time went by" : undefined;
}

function countOf(reasons: readonly string[], reason: string): number {
  return reasons.filter((other) => other === reason).length;
}

/** Acts on the world, by what was asked: one in two calls is two. */
function deedsOf({ executions }: LivedRun): ReadonlyMap<string, number> {
  const calls = new Map<string, Set<string>>();
  for (const { tool, effect, input, key } of executions) {
    if (effect === "read") continue;
    const deed = `\`${tool}\` with ${canonicalJson(input as JsonValue)}`;
    calls.set(deed, (calls.get(deed) ?? new Set()).add(key));
  }
  return new Map([...calls].map(([deed, keys]) => [deed, keys.size]));
}

function moreDeeds(run: LivedRun, undisturbed: LivedRun): readonly string[] {
  const before = deedsOf(undisturbed);
  return [...deedsOf(run)].flatMap(([deed, times]) =>
    times > (before.get(deed) ?? 0) ? [`${deed} was done in ${times} calls, and in ${before.get(deed) ?? 0} of the undisturbed run`] : [],
  );
}

function fewerDeeds(run: LivedRun, undisturbed: LivedRun): readonly string[] {
  const after = deedsOf(run);
  return [...deedsOf(undisturbed)].flatMap(([deed, times]) =>
    (after.get(deed) ?? 0) < times ? [`${deed} was done in ${after.get(deed) ?? 0} calls, and in ${times} of the undisturbed run`] : [],
  );
}

function jsonOf(value: unknown): string {
  return canonicalJson(JSON.parse(JSON.stringify(value ?? null)) as JsonValue);
}

function shown(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text === "" ? "nothing" : text;
}
