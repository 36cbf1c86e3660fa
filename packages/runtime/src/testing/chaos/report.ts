import type { ChaosStep } from "./step.ts";

/** A run in which something was wrong. */
export interface ChaosFailure {
  /** The fault and its step, "crash after append#7": given to `chaos` as `only`, with the same seed, it is the same run again. */
  readonly name: string;
  /** What that step was about in the undisturbed run, for people. */
  readonly step: string;
  readonly problems: readonly string[];
}

/** What became of an agent among faults. `String(report)` is for people. */
export interface ChaosReport {
  readonly failures: readonly ChaosFailure[];
  /** Runs that rightly ended otherwise than the undisturbed one, and why. */
  readonly explained: readonly { readonly name: string; readonly why: string }[];
  /** Steps of the undisturbed run, in order. */
  readonly steps: readonly ChaosStep[];
  /** Runs with faults. */
  readonly runs: number;
  /** Runs that `maxRuns` left out. */
  readonly leftOut: number;
  /** In how many runs somebody was asked whether a write had taken effect. */
  readonly asked: number;
  readonly seed: number;
  toString(): string;
}

export function createReport(facts: Omit<ChaosReport, "toString">): ChaosReport {
  return { ...facts, toString: () => told(facts) };
}

function told({ failures, explained, steps, runs, leftOut, asked, seed }: Omit<ChaosReport, "toString">): string {
  const counts = [
    `${runs} runs with faults at ${steps.length} steps (seed ${seed})`,
    ...(leftOut > 0 ? [`${leftOut} more were left out: raise maxRuns`] : []),
    ...(asked > 0 ? [`in ${asked} of them somebody was asked whether a write had taken effect`] : []),
  ];
  return [
    failures.length === 0 ? "chaos: nothing was lost, and nothing done twice" : `chaos: ${failures.length} runs failed`,
    ...counts.map((count) => `  ${count}`),
    ...failures.flatMap(({ name, step, problems }) => [
      "",
      `${name}${step === "" ? "" : ` (${step})`}`,
      ...problems.map((problem) => `  - ${problem}`),
      `  again: chaos(scene, { only: ${JSON.stringify(name)}, seed: ${seed} })`,
    ]),
    ...(explained.length === 0 ? [] : ["", `${explained.length} runs ended otherwise, with a reason:`]),
    ...[...grouped(explained)].map(
      ([why, names]) => `  - ${why} (${names.slice(0, 3).join("; ")}${names.length > 3 ? `; ${names.length - 3} more` : ""})`,
    ),
  ].join("\n");
}

function grouped(explained: ChaosReport["explained"]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { name, why } of explained) groups.set(why, [...(groups.get(why) ?? []), name]);
  return groups;
}
