import {
  DirectiveError,
  type BlobStore,
  type Content,
  type Effect,
  type EffectContext,
  type EffectExecutor,
  type JsonValue,
  type ObservableEvent,
  type Orchestrator,
  type StateStore,
  type SessionId,
  type Signal,
} from "@keelson/protocol";
import type { PayloadTypes } from "../../agent/features/effects/directive-payloads.ts";
import type { Runner, SingleRunner } from "../../agent/runner/runner.ts";
import type { Agents } from "../../agent/definition/agent.ts";
import { systemClock } from "../../platform/clock.ts";
import { CHILD_MARK } from "../../session/session-id.ts";
import { unitedSources } from "../../session/untrusted-sources.ts";
import type { Scheduler } from "../schedules/scheduler.ts";
import { memoryHandlers } from "./carry-out-memory.ts";
import {
  createEffectExecutor,
  type DirectiveHandlers,
  type EffectExecutorOptions,
  type EffectHandlers,
  type Handler,
} from "./create-effect-executor.ts";
import { runsOfOrchestrator, runsOfRunner, type OtherRuns } from "./other-runs.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { definedOptions } from "../../json/defined-options.ts";

export interface LocalEffectExecutorOptions<Types extends PayloadTypes = Record<never, never>> extends EffectExecutorOptions<Types> {
  /** What `run-instruction` runs, by name: given the input; what it returns goes before the model in the next turn. */
  readonly instructions?: { readonly [name: string]: Handler<JsonValue> } | undefined;
  /** For memory effects. */
  readonly store?: StateStore | undefined;
  /** For artifacts. */
  readonly blobs?: BlobStore | undefined;
  /** For `schedule` and `cron`. A function is called with each of them. */
  readonly scheduler?: Pick<Scheduler, "schedule"> | (() => Pick<Scheduler, "schedule"> | Promise<Pick<Scheduler, "schedule">>) | undefined;
  /** Where `delegate`, `handoff` and `signal` go. Without it they go to the runner. */
  readonly orchestrator?: Orchestrator | undefined;
  /** The runner whose runs these are, once it is made: `delegate` and `handoff` start its agents, `signal` reaches its sessions. */
  readonly runner?: (() => SingleRunner<never> | SingleRunner<unknown> | Runner<Agents>) | undefined;
  /** Told of logs, progress, observations and metrics. They also stand in the outcome, and the first two are shown as `status` events. */
  readonly observe?: ((event: ObservableEvent) => void) | undefined;
}

/**
 * Carries out every effect and directive in this process, as far as it is given what that needs. Handlers in `effects` and
 * `directives` take the place of its own. `createRunner` gives it what is left out here: its blobs, its store, itself, and a
 * scheduler that fires in this process.
 *
 * ```ts
 * const effects = createLocalEffectExecutor({ store, instructions: { lookup: (input) => database.find(input) } });
 * ```
 */
export function createLocalEffectExecutor<Types extends PayloadTypes = Record<never, never>>(
  options: LocalEffectExecutorOptions<Types> = {},
): EffectExecutor {
  checkOptionNames("createLocalEffectExecutor", options, {
    instructions: true,
    store: true,
    blobs: true,
    scheduler: true,
    orchestrator: true,
    runner: true,
    observe: true,
    effects: true,
    directives: true,
    customEffects: true,
    payloads: true,
    customDirectives: true,
    unsupported: true,
    timeoutMs: true,
    clock: true,
  });
  const {
    instructions: _instructions,
    store,
    blobs: _blobs,
    scheduler: _scheduler,
    orchestrator: _orchestrator,
    runner: _runner,
    observe: _observe,
    ...routes
  } = options;
  const executor = createEffectExecutor<Types>({
    ...routes,
    effects: {
      ...memoryHandlers(store),
      ...observers(options),
      ...artifacts(options),
      ...otherRuns(options),
      ...definedOptions(options.effects ?? {}),
    },
    directives: { ...onTheRun, ...schedules(options), ...instructions(options), ...definedOptions(options.directives ?? {}) },
  });
  optionsOf.set(executor, options);
  return executor;
}

const optionsOf = new WeakMap<EffectExecutor, LocalEffectExecutorOptions<never>>();

/** A local executor with `defaults` for what it was made without; one of another kind as it is. */
export function completeEffectExecutor(executor: EffectExecutor | undefined, defaults: LocalEffectExecutorOptions): EffectExecutor {
  if (executor === undefined) return createLocalEffectExecutor(defaults);
  const own = optionsOf.get(executor);
  return own === undefined ? executor : createLocalEffectExecutor<never>({ ...defaults, ...definedOptions(own) });
}

/** What acts on the run itself is the run's to do and to record. */
const onTheRun: DirectiveHandlers = {
  "emit": ({ event }, { run }) => run.emit(event),
  "stop": ({ reason }, { run }) => run.stop(reason),
  "spawn-agent": async ({ name, config }, { run }) => void (await run.spawnAgent(name, config)),
  "stop-child": async ({ name }, { run }) => void (await run.stopChild(name)),
  "spawn-task": async ({ description, input }, { run }) => void (await run.startTask(description, input)),
  "stop-task": async ({ taskId }, { run }) => void (await run.stopTask(taskId)),
};

function schedules({ scheduler }: LocalEffectExecutorOptions<never>): DirectiveHandlers {
  const find = async (directive: string): Promise<Pick<Scheduler, "schedule">> => {
    if (scheduler === undefined)
      throw new DirectiveError({ kind: "unsupported", directive, message: `"${directive}" needs a scheduler: give the executor one.` });
    return typeof scheduler === "function" ? scheduler() : scheduler;
  };
  // The key is the effect's, so that a second attempt asks for the same schedule. What a child books is told to the run above it.
  const place = ({ session, agent, idempotencyKey: key, authority }: EffectContext) => ({
    ...(session.includes(CHILD_MARK) ? { session: session.slice(0, session.indexOf(CHILD_MARK)) } : { session, agent }),
    key,
    ...(authority && { authority }),
  });
  return {
    schedule: async ({ action, delay }, context) => void (await (await find("schedule")).schedule({ ...place(context), action, delay })),
    cron: async ({ action, expression, timeZone }, context) =>
      void (await (
        await find("cron")
      ).schedule({ ...place(context), action, cron: expression, ...(timeZone !== undefined && { timeZone }) })),
  };
}

function instructions({ instructions: known = {} }: LocalEffectExecutorOptions<never>): DirectiveHandlers {
  return {
    "run-instruction": async ({ instruction, input }, context) => {
      const run = Object.hasOwn(known, instruction) ? known[instruction] : undefined;
      if (run) return run(input, context);
      const message = `There is no instruction "${instruction}"; there are ${Object.keys(known).join(", ") || "none"}.`;
      throw new DirectiveError({ kind: "unsupported", directive: "run-instruction", message });
    },
  };
}

function observers({ observe, clock = systemClock }: LocalEffectExecutorOptions<never>): EffectHandlers {
  const tell = (effect: Effect, context: EffectContext, attributes: ObservableEvent["attributes"]): void => {
    const { runId, session, agent } = context;
    observe?.({ name: effect.type, at: effect.meta?.at ?? clock.now(), attributes: { ...attributes, runId, session, agent } });
  };
  return {
    progress: (effect, context) =>
      tell(effect, context, { message: effect.message, ...(effect.ratio !== undefined && { ratio: effect.ratio }) }),
    log: (effect, context) => tell(effect, context, { level: effect.level, message: effect.message }),
    observation: (effect, context) => tell(effect, context, { name: effect.name, value: effect.value }),
    metric: (effect, context) =>
      tell(effect, context, { name: effect.name, value: effect.value, ...(effect.unit !== undefined && { unit: effect.unit }) }),
  };
}

/** A text is kept as it is, anything else as JSON. What was kept is told by its digest. */
function artifacts({ blobs }: LocalEffectExecutorOptions<never>): EffectHandlers {
  return {
    artifact: async ({ name, mediaType, content }) => {
      if (blobs === undefined)
        throw new DirectiveError({
          kind: "unsupported",
          directive: "artifact",
          message: `"artifact" needs a blob store: give the executor \`blobs\`.`,
        });
      const text = typeof content === "string" ? content : JSON.stringify(content);
      return { name, mediaType, digest: await blobs.put(new TextEncoder().encode(text)) };
    },
  };
}

function otherRuns({ orchestrator, runner }: LocalEffectExecutorOptions<never>): EffectHandlers {
  let found: OtherRuns | undefined;
  const find = (type: string): OtherRuns => {
    found ??= orchestrator ? runsOfOrchestrator(orchestrator) : runner ? runsOfRunner(runner()) : undefined;
    if (found) return found;
    const message = `"${type}" needs somewhere to go: give the executor an orchestrator, or the runner.`;
    throw new DirectiveError({ kind: "unsupported", directive: type, message });
  };
  const request = ({ idempotencyKey: key, authority, signal }: EffectContext) => ({ key, signal, ...(authority && { authority }) });
  return {
    // Text that was in context of who signals may stand in the signal.
    signal: ({ target, signal }, { idempotencyKey, authority }) =>
      find("signal").signal(target, labelled(signal, authority?.untrusted), idempotencyKey),
    delegate: ({ operator, message, metadata = {} }, context) =>
      find("delegate").delegate({ operator, message, metadata, ...request(context) }),
    handoff: ({ operator, task, history, metadata = {} }, context) =>
      find("handoff").handOff({ operator, ...handoffInput(task, history), metadata, ...request(context) }),
  };
}

function labelled(signal: Signal, sources: readonly string[] | undefined): Signal {
  const untrusted = unitedSources(signal.untrusted ?? [], sources);
  return untrusted.length === 0 ? signal : { ...signal, untrusted };
}

/** The task, and what came before it where that is handed on: a session of this runner, or anything in words. */
function handoffInput(task: string, history: JsonValue | undefined): { readonly message: readonly Content[]; readonly after?: SessionId } {
  const told: Content = { type: "text", text: task };
  if (history === undefined) return { message: [told] };
  const session = typeof history === "object" && history !== null && "session" in history ? history["session"] : undefined;
  if (typeof session === "string") return { message: [told], after: session as SessionId };
  return {
    message: [told, { type: "text", text: `What came before:\n${typeof history === "string" ? history : JSON.stringify(history)}` }],
  };
}
