import {
  checkOperatorConfig,
  OperatorError,
  type AgentEvent,
  type BlobStore,
  type BudgetLedger,
  type EventLog,
  type OperatorConfig,
  type OperatorOutput,
  type Provider,
  type RunId,
  type SessionId,
  type Tool,
} from "@keelson/protocol";
import type { InferenceSettings } from "../../context/compile-request.ts";
import type { Context } from "../../context/context.ts";
import { systemClock, type Clock } from "../../platform/clock.ts";
import { Execution } from "../../session/execution.ts";
import { createForgetfulLog, forgetfulBlobs } from "../../session/forgetful-log.ts";
import { Journal } from "../../session/journal.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
import { unattendedTool } from "../../tools/unattended-tool.ts";
import type { CompactionOptions } from "../definition/compaction/compaction-options.ts";
import { createAgent } from "../definition/create-agent.ts";
import { invalidOption } from "../definition/invalid-option.ts";
import { asTools, type AnyTool, type ContextOf } from "../definition/tool-context/context-factory.ts";
import { modelName } from "../definition/model-source.ts";
import { createEphemeralApprovalKeys } from "../turn/approval-keys.ts";
import { beginRun } from "./begin-run.ts";
import { authorityOf, createLoop } from "./create-loop.ts";
import { limitsOf } from "../definition/limits.ts";
import { withBudgets } from "../definition/budget/check-budgets.ts";
import { createUnsharedLedger } from "../features/budget/unshared-ledger.ts";
import { EventHub } from "../turn/events/event-hub.ts";
import { runTurns } from "../loop/run-turns.ts";
import { accountOf, operatorOutputOf } from "../turn/operator-output.ts";
import { outcomeOf } from "./outcome.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface ReactLoopOptions {
  /** Holds the conversation, which the loop continues, and the rules. */
  readonly context: Context;
  readonly provider: Provider;
  readonly tools?: readonly Tool[] | undefined;
  /** The vendor's model id. Default: the provider's own. */
  readonly model?: string | undefined;
  readonly systemPrompt?: string | undefined;
  readonly settings?: Omit<InferenceSettings, "effort" | "thinking" | "output"> | undefined;
  /** When and how the conversation is shortened. Summaries are written nowhere but into it. Default: only if a request is too long for the model. */
  readonly compaction?: Omit<CompactionOptions, "store"> | undefined;
  /** The value that tools find as `context` in their calls. */
  readonly toolContext?: unknown;
  /** Of this invocation: goes before the options above. */
  readonly config?: OperatorConfig | undefined;
  /** The caller, whom tools see as `agent`. Default `react-loop`. */
  readonly name?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told what happens, in order: what a run's watchers see. What it throws ends the loop. */
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
  readonly clock?: Clock | undefined;
  /** Where the log goes. Default: nowhere. */
  readonly log?: EventLog | undefined;
  readonly blobs?: BlobStore | undefined;
  readonly ledger?: BudgetLedger | undefined;
}

/** The options of a loop whose tools, or some of them, were made with `defineTool.for<Context>()`. */
interface ContextLoopOptions<Tools extends readonly AnyTool[]> extends Omit<ReactLoopOptions, "tools" | "toolContext"> {
  readonly tools: Tools;
  readonly toolContext: ContextOf<Tools[number]>;
}

/**
 * The loop on a context of your own: compile, infer, append, run tools, repeat. It is the loop that runners drive, without
 * a session around it. Every tool that the caller gives may run; nobody is asked, so calls that need an approval fail.
 * @throws OperatorError when the model, or `onEvent`, failed
 */
export async function reactLoop<Tools extends readonly AnyTool[]>(options: ContextLoopOptions<Tools>): Promise<OperatorOutput>;
export async function reactLoop(options: ReactLoopOptions): Promise<OperatorOutput>;
export async function reactLoop(options: ReactLoopOptions | ContextLoopOptions<readonly AnyTool[]>): Promise<OperatorOutput> {
  checkOptionNames("reactLoop", options, {
    context: true,
    provider: true,
    tools: true,
    model: true,
    systemPrompt: true,
    settings: true,
    config: true,
    name: true,
    signal: true,
    onEvent: true,
    clock: true,
    log: true,
    blobs: true,
    ledger: true,
    compaction: true,
    toolContext: true,
  });
  const { context, provider, systemPrompt, settings, config = {}, name = "react-loop", signal, clock = systemClock } = options;
  const { onEvent, compaction } = options;
  const tools = asTools(options.tools ?? []);
  const needing = tools.find(({ needsContext }) => needsContext);
  if (needing !== undefined && options.toolContext === undefined)
    throw invalidOption("toolContext", `is missing: the tool "${needing.name}" needs one`);
  checkOperatorConfig("reactLoop.config", config);
  const id = `r_${globalThis.crypto.randomUUID()}`;
  const agent = createAgent({
    name,
    model: providerOf(provider, config.model ?? options.model),
    ...(systemPrompt !== undefined && { instructions: systemPrompt }),
    ...(config.systemAddendum !== undefined && { systemPrompt: { type: "append", content: config.systemAddendum } }),
    tools: tools.map(unattendedTool),
    permissions: { mode: "bypass-all" },
    ...(config.allowedOperators && { allowedTools: config.allowedOperators }),
    ...(settings && { settings }),
    ...(compaction && { compaction }),
  });
  const log = options.log ?? createForgetfulLog(() => clock.now());
  const blobs = options.blobs ?? forgetfulBlobs;
  // Without a bound: who is told at once lags behind by no more than one append, and the log may not be there to read it from again.
  const hub = new EventHub({
    runId: id as RunId,
    log,
    session: id as SessionId,
    restore: async (record) => record,
    maxBufferBytes: Number.POSITIVE_INFINITY,
  });
  const limits = limitsOf(agent.options.limits, {
    ...(config.maxTurns !== undefined && { maxTurns: config.maxTurns }),
    ...(config.maxCost !== undefined && { maxCost: config.maxCost }),
    ...(config.maxDurationMs !== undefined && { maxDurationMs: config.maxDurationMs }),
  });
  const ledger = options.ledger ?? createUnsharedLedger();
  const authority = withBudgets(authorityOf(agent, {}), { id, limits });
  const journal = await Journal.open({
    log,
    blobs,
    clock,
    session: id as SessionId,
    conversation: context.conversation,
    owner: id,
    leaseTtlMs: 60_000,
    durability: "process",
    watcher: { committed: (records) => hub.committed(records), lost: () => controller.abort("detached") },
  });
  const controller = new AbortController();
  const abort = (): void => controller.abort("aborted");
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  hub.opened(journal.state.seq, journal.state.seq);
  const told = onEvent === undefined ? undefined : passEventsOn(hub, onEvent);
  told?.catch(abort);
  try {
    const execution = new Execution({
      journal,
      clock,
      runId: id as RunId,
      session: id as SessionId,
      signal: controller.signal,
      stopping: new AbortController().signal,
      authority,
      emit: (event) => hub.transient(event),
      startChild: (spec) =>
        Promise.reject(
          new OperatorError({
            kind: "sub-dispatch",
            operator: spec.operator,
            message: `"${spec.operator}" is an agent: only a runner can start it`,
          }),
        ),
    });
    await beginRun(journal, { id: id as RunId, agent, model: modelName(agent.options.model), options: {}, origin: {}, limits, authority });
    const services = {
      log,
      blobs,
      clock,
      ledger: ledger,
      approvalKeys: createEphemeralApprovalKeys(),
      owner: id,
      random: Math.random,
      newId: () => globalThis.crypto.randomUUID(),
    };
    const loop = createLoop({
      services,
      agent,
      execution,
      limits,
      hub,
      approvals: { watched: false, asksNobody: true, ask: () => {} },
      context,
      ...("toolContext" in options && { toolContext: { value: options.toolContext } }),
    });
    const next = await runTurns(loop);
    hub.close();
    await told;
    return operatorOutputOf(outcomeOf(journal.state, next), accountOf(journal.state));
  } finally {
    signal?.removeEventListener("abort", abort);
    await journal.close();
    hub.close();
  }
}

/** @throws OperatorError when `onEvent` threw */
async function passEventsOn(hub: EventHub, onEvent: (event: AgentEvent) => void): Promise<void> {
  for await (const event of hub.subscribe()) {
    try {
      onEvent(event);
    } catch (cause) {
      const message = `The loop was ended, since its onEvent failed at "${event.type}": ${describeThrown(cause)}`;
      throw new OperatorError({ kind: "non-retryable", message }, { cause });
    }
  }
}

function providerOf(provider: Provider, model: string | undefined): Provider {
  if (model === undefined) return provider;
  return {
    name: `${provider.name.split("/", 1)[0]}/${model}`,
    wire: provider.wire,
    stream: (request, options) => provider.stream(request, options),
    ...(provider.unfitTools !== undefined && { unfitTools: (tools) => provider.unfitTools?.(tools) ?? [] }),
  };
}
