import type { BlobStore, Effect, EffectExecutor, EventLog, JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { createAgent, createRunner, defineTool, type SingleRunner } from "../../src/index.ts";
import { definePlugin } from "../../src/agent/index.ts";
import { createMemoryBlobStore, createMemoryEventLog } from "../../src/state/index.ts";
import { normalisedLog } from "./normalised-log.ts";
import { pointsUntil, type Points } from "./points.ts";
import { impatientClock, scriptByTurn } from "./scenario.ts";
import { type SideEffect, sideEffectsInMemory } from "./side-effects.ts";
import { watchedLog } from "./watched-log.ts";

const SESSION = "effects";
const TTL_MS = 30_000;

/** What a run declares: by its tools turn by turn, before its first turn, and when its result is known. */
export interface EffectStory {
  readonly before: readonly Effect[];
  readonly turns: readonly (readonly Effect[])[];
  readonly after: readonly Effect[];
}

/** Effects that name themselves; those whose name ends in `!` fail, and directives that end in `?` route a value back. */
export function storyOf(names: readonly [readonly Kind[], readonly (readonly Kind[])[], readonly Kind[]]): EffectStory {
  let count = 0;
  const named = (kind: Kind): Effect => {
    const name = `${++count}${kind.endsWith("!") ? "!" : kind.endsWith("?") ? "?" : ""}`;
    if (kind.startsWith("effect")) return { type: "custom", name, payload: null };
    if (kind === "emit") return { type: "directive", directive: { type: "emit", event: { name } } };
    return { type: "directive", directive: { type: "run-instruction", instruction: name, input: count } };
  };
  const [before, turns, after] = names;
  return { before: before.map(named), turns: turns.map((turn) => turn.map(named)), after: after.map(named) };
}

export type Kind = "effect" | "effect!" | "directive" | "directive?" | "directive!" | "emit";
const kind = fc.constantFrom<Kind>("effect", "effect!", "directive", "directive?", "directive!", "emit");

export const anyStory: fc.Arbitrary<EffectStory> = fc
  .tuple(
    fc.array(
      kind.filter((name) => !name.startsWith("effect")),
      { maxLength: 2 },
    ),
    fc.array(fc.array(kind, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
    fc.array(
      kind.filter((name) => name.startsWith("directive")),
      { maxLength: 2 },
    ),
  )
  .map(storyOf);

export interface EffectLives {
  readonly log: EventLog;
  readonly done: () => readonly SideEffect[];
  /** Works until the run is over, or until `place`. @returns the places it passed, and the outcome of a run that is over */
  live(
    place?: string,
  ): Promise<{ readonly passed: readonly string[]; readonly outcome?: Awaited<ReturnType<SingleRunner["run"]>["outcome"]> }>;
}

/** One log in memory, and the processes that come and go on it while the story runs. */
export function effectLives(story: EffectStory): EffectLives {
  let now = 1_700_000_000_000;
  let lives = 0;
  const log = createMemoryEventLog({ now: () => now });
  const blobs = createMemoryBlobStore();
  const acts = sideEffectsInMemory();
  return {
    log,
    done: acts.read,
    async live(place) {
      now += TTL_MS + 1;
      const points = pointsUntil(place);
      const runner = open(story, { log, blobs, points, owner: `life-${++lives}`, act: acts.write, now: () => now });
      const work = async () => {
        const isNew = (await log.head(`session/${SESSION}` as never)) === 0;
        return (isNew ? runner.run("go", { session: SESSION }) : await runner.resume(SESSION)).outcome;
      };
      const outcome = await Promise.race([work(), points.died]);
      return { passed: points.passed, ...(outcome !== undefined && { outcome: outcome as never }) };
    },
  };
}

interface Life {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly points: Points;
  readonly owner: string;
  readonly now: () => number;
  act(effect: SideEffect): void;
}

function open(story: EffectStory, { log, blobs, points, owner, act, now }: Life): SingleRunner {
  const directives = (effects: readonly Effect[]) => effects.flatMap((effect) => (effect.type === "directive" ? [effect.directive] : []));
  const executor: EffectExecutor = {
    supports: () => true,
    async execute(effect, { idempotencyKey, attempt }) {
      const name = nameOf(effect);
      await points.pass("execute/before");
      act({ tool: name, key: idempotencyKey, attempt });
      await points.pass("execute/after");
      if (name.endsWith("!")) throw new Error(`${name} is refused`);
      return name.endsWith("?") ? `value of ${name}` : undefined;
    },
  };
  return createRunner({
    log: watchedLog(log, { before: () => points.pass("append"), after: () => points.pass("appended") }),
    blobs,
    owner,
    leaseTtlMs: TTL_MS,
    clock: { ...impatientClock, now },
    random: () => 0.5,
    effects: executor,
    agent: createAgent({
      name: "declaring",
      model: scriptByTurn(points, "scripted/declaring", (turn) =>
        turn < story.turns.length
          ? { toolCalls: [{ name: "declare", input: { effects: story.turns[turn] as unknown as JsonValue } }] }
          : { text: "Done." },
      ),
      tools: [
        defineTool({
          name: "declare",
          description: "Declares effects.",
          effect: "idempotent",
          input: { type: "object" },
          async execute({ effects }, call) {
            for (const effect of effects as unknown as readonly Effect[]) call.declare?.(effect);
            await points.pass("declared");
            return "declared";
          },
        }),
      ],
      plugins: [
        definePlugin({
          key: "declaring",
          initialState: {},
          beforeRun: () => directives(story.before),
          afterRun: () => directives(story.after),
        }),
      ],
    }),
  });
}

export function nameOf(effect: Effect): string {
  if (effect.type === "custom") return effect.name;
  if (effect.type !== "directive") throw new TypeError(`no story declares ${effect.type}`);
  const { directive } = effect;
  return directive.type === "run-instruction"
    ? directive.instruction
    : String((directive as unknown as { readonly event: { readonly name: string } }).event.name);
}

/** What the story comes to when it is left alone. */
export async function undisturbedEffects(story: EffectStory): Promise<{
  readonly passed: readonly string[];
  readonly normalised: readonly JsonValue[];
  readonly order: readonly string[];
}> {
  const lives = effectLives(story);
  const { passed, outcome } = await lives.live();
  if (outcome?.reason !== "complete") throw new Error(`the story ends with ${outcome?.reason}: ${outcome?.error?.message}`);
  return { passed, normalised: await normalisedLog(lives.log, SESSION), order: lives.done().map(({ tool }) => tool) };
}

/** What is wrong with a story that crashes and resumes have led to its end. */
export async function effectStoryFaults(
  lives: EffectLives,
  outcome: Awaited<ReturnType<EffectLives["live"]>>["outcome"],
  expected: Awaited<ReturnType<typeof undisturbedEffects>>,
): Promise<readonly string[]> {
  const faults: string[] = [];
  if (outcome?.reason !== "complete") return [`it ended with ${outcome?.reason}: ${outcome?.error?.message}`];
  const found = JSON.stringify(await normalisedLog(lives.log, SESSION));
  if (found !== JSON.stringify(expected.normalised)) faults.push(`its log differs: ${found}, not ${JSON.stringify(expected.normalised)}`);
  const done = lives.done();
  const order = [...new Set(done.map(({ tool }) => tool))];
  if (order.join() !== expected.order.join()) faults.push(`executed in the order ${order.join()}, not ${expected.order.join()}`);
  for (const name of order) {
    const acts = done.filter(({ tool }) => tool === name);
    if (new Set(acts.map(({ key }) => key)).size > 1) faults.push(`${name} was executed under several keys`);
    // An attempt that died before it acted left no act, so that numbers may be missing; none may come twice.
    if (acts.some(({ attempt }, index) => index > 0 && attempt <= Number(acts[index - 1]?.attempt)))
      faults.push(`${name} counts its attempts wrongly`);
  }
  const marks = new Map<string, number>();
  for await (const { type, data } of lives.log.read(`session/${SESSION}` as never))
    if (type === "effect-done") marks.set(String(data["id"]), (marks.get(String(data["id"])) ?? 0) + 1);
  for (const [id, count] of marks) if (count !== 1) faults.push(`${id} is marked ${count} times`);
  for (const effect of outcome.effects) {
    const name = nameOf(effect);
    const expectedOutcome = name.endsWith("!") && marks.has(String(effect.meta?.id)) ? "failed" : "done";
    if (effect.meta?.outcome !== expectedOutcome) faults.push(`${name} is listed as ${effect.meta?.outcome}`);
  }
  return faults;
}
