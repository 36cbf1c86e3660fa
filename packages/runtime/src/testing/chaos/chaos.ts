import { checkOptionNames } from "../../json/option-names.ts";
import { advanceEngine } from "./advance-engine.ts";
import { chaosFaults } from "./chaos-faults.ts";
import type { ChaosEngine } from "./engine.ts";
import { planName, type ChaosFault, type PlannedFault } from "./fault.ts";
import { judgeRun } from "./judge-run.ts";
import { liveRun, type LivedRun } from "./live-run.ts";
import { parsePlan } from "./parse-plan.ts";
import { planRuns } from "./plan-runs.ts";
import { createRecordedModels } from "./recorded-models.ts";
import { createReport, type ChaosFailure, type ChaosReport } from "./report.ts";
import { resumeEngine } from "./resume-engine.ts";
import type { ChaosScene } from "./scene.ts";
import type { ChaosStep } from "./step.ts";

export interface ChaosOptions {
  /**
   * What keeps the run going: `resume` (the default), where each process takes up the whole run; `advance`, where a queue has it
   * advanced turn by turn, and children elsewhere; or an engine of your own, made anew for each run.
   */
  readonly engine?: "resume" | "advance" | (() => ChaosEngine) | undefined;
  /** Default: all of `chaosFaults`. */
  readonly faults?: readonly ChaosFault[] | undefined;
  /** Default 1000. What is left out is counted in the report. */
  readonly maxRuns?: number | undefined;
  /** Runs with two faults each, drawn by the seed. Default none. */
  readonly pairs?: number | undefined;
  /** Decides what is left to chance. Default 1. */
  readonly seed?: number | undefined;
  /** One run of an earlier report, by its name. */
  readonly only?: string | undefined;
  /**
   * `recorded` (the default): the models are asked in the undisturbed run, and respond alike in the others. `asked`: they are asked each
   * time, and must respond by what the conversation holds.
   */
  readonly models?: "recorded" | "asked" | undefined;
}

/**
 * Runs an agent undisturbed and counts its steps, as they pass the seams between the runtime and its stores, models, tools and engine.
 * Then it runs it anew once for every fault at every step, leads it to its end as an engine would, and holds what came of it against
 * the undisturbed run. Time is made up: nothing sleeps.
 *
 * ```ts
 * const report = await chaos({ agent, input: "Pay Ada." });
 * expect(report.failures).toEqual([]); // String(report) tells it to people
 * ```
 *
 * @param scene a function, where the agent's world must be new for each run
 */
export async function chaos(
  scene: ChaosScene | (() => ChaosScene | Promise<ChaosScene>),
  options: ChaosOptions = {},
): Promise<ChaosReport> {
  checkOptionNames("chaos", options, { engine: true, faults: true, maxRuns: true, pairs: true, seed: true, only: true, models: true });
  const {
    engine = "resume",
    faults = Object.values(chaosFaults),
    maxRuns = 1000,
    pairs = 0,
    seed = 1,
    only,
    models = "recorded",
  } = options;
  const recorded = createRecordedModels();
  const makeEngine = typeof engine === "function" ? engine : engine === "advance" ? advanceEngine : resumeEngine;
  const live = async (plan: readonly PlannedFault[], played = recorded.play()): Promise<LivedRun> =>
    liveRun({
      scene: checked(typeof scene === "function" ? await scene() : scene),
      engine: makeEngine(),
      models: models === "asked" ? { provider: (provider) => provider } : played,
      plan,
      seed: String(seed),
    });

  const undisturbed = await live([], recorded.record());
  const { steps } = undisturbed;
  const failures: ChaosFailure[] = [];
  if (undisturbed.problems.length > 0 || undisturbed.outcome === undefined) {
    const { problems } = judgeRun(undisturbed, undisturbed);
    failures.push({ name: "undisturbed", step: "", problems });
    return createReport({ failures, explained: [], steps, runs: 0, leftOut: 0, asked: 0, seed });
  }
  const all = only === undefined ? planRuns({ faults, steps, seed: String(seed), pairs }) : [parsePlan(only, faults, "only")];
  const plans = all.slice(0, maxRuns);
  const explained: { readonly name: string; readonly why: string }[] = [];
  let asked = 0;
  for (const plan of plans) {
    const run = await live(plan);
    const judgement = judgeRun(run, undisturbed);
    const name = planName(plan);
    if (judgement.problems.length > 0) failures.push({ name, step: aboutOf(plan, steps), problems: judgement.problems });
    else if (judgement.explained !== undefined) explained.push({ name, why: judgement.explained });
    if (run.unknown.length > 0) asked++;
  }
  return createReport({ failures, explained, steps, runs: plans.length, leftOut: all.length - plans.length, asked, seed });
}

function checked(scene: ChaosScene): ChaosScene {
  const names = { agent: true, services: true, runner: true, input: true, stores: true, world: true, answer: true };
  checkOptionNames("a scene of chaos", scene, names);
  return scene;
}

function aboutOf(plan: readonly PlannedFault[], steps: readonly ChaosStep[]): string {
  return plan.flatMap(({ at }) => steps.find(({ id }) => id === at)?.about ?? []).join("; ");
}
