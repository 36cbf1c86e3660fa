import type { Directive, Effect, JsonValue, Signal, SignalAction, Tool } from "@keelson/protocol";
import { textMessage } from "@keelson/protocol";
import {
  type AgentOptions,
  closureGuard,
  createHookRegistry,
  defineEffectTool,
  definePlugin,
  definePromptMiddleware,
  directStrategy,
  type ExecutionStrategy,
  fsmStrategy,
  type HookContext,
  type HookRegistry,
  type Plugin,
  type PluginState,
  type PromptMiddleware,
  type SignalResponse,
  signalRoute,
  summarisationMark,
} from "keelson/agent";
import { actWith, lookOn, type Stage } from "./acting.ts";
import { type DirectiveKind, type EffectKind, type Features, type HookPlan, OFFERED, type PluginPlan, STATES } from "./features.ts";
import type { Place } from "./witness.ts";

/** What a story's features make of an agent's options. */
export function featureOptions(features: Features, stage: Stage): Partial<AgentOptions<never>> {
  const { beforeTurn, afterTurn, effects } = features;
  return {
    ...(features.hooks.length > 0 && { hooks: hooksOf(features.hooks, stage) }),
    ...(beforeTurn && {
      beforeTurn: () =>
        actWith(stage, "beforeTurn", beforeTurn, (late) =>
          late && beforeTurn.aborts ? { type: "abort" as const, reason: "enough" } : undefined,
        ),
    }),
    ...(afterTurn && {
      afterTurn: ({ runId, turn }) => lookOn(stage, "afterTurn", afterTurn, { runId, about: `turn ${turn}` }),
    }),
    ...(features.plugins.length > 0 && { plugins: features.plugins.map((plan, index) => pluginOf(plan, index, features, stage)) }),
    ...(features.middleware.length > 0 && { middleware: features.middleware.map((_, index) => middlewareOf(features, index, stage)) }),
    ...(features.signals && {
      signalRoutes: routesOf(features, "agent"),
      onSignal: { handle: () => respond(features, stage) },
    }),
    ...(effects && effects.filter !== "none" && { directiveFilters: [filterOf(effects.filter)] }),
  };
}

/** The state machine of the main agent. */
export function strategyOf(features: Features): ExecutionStrategy | undefined {
  const plan = features.strategy;
  if (plan === undefined) return undefined;
  if (plan.kind === "direct") return directStrategy();
  const builder = fsmStrategy()
    .initial("a")
    .tools(...plan.everywhere);
  for (const { from, action, to, guard, priority } of plan.transitions) {
    if (guard === "none") builder.transition(from, action, to);
    else
      builder.transitionWithGuard(
        from,
        action,
        to,
        closureGuard(guard, (input) => isAccepted(guard, input)),
        priority,
      );
  }
  builder.state("a", { tools: plan.inA });
  if (plan.transitions.some(({ action }) => action === OFFERED)) builder.offer(OFFERED);
  for (const route of routesOf(features, "strategy")) builder.route(route);
  return builder.build();
}

export function isAccepted(guard: "even" | "odd" | "never" | "throw", input: JsonValue): boolean {
  if (guard === "throw") throw new Error("the guard failed");
  const n = Number((input as { readonly n?: unknown } | null)?.n ?? 0);
  return guard === "never" ? false : n % 2 === (guard === "even" ? 0 : 1);
}

function hooksOf(plans: readonly HookPlan[], stage: Stage): HookRegistry {
  const registry = createHookRegistry();
  for (const [index, plan] of plans.entries()) {
    const { point, pattern } = plan;
    const name = `hook ${index} at ${point}`;
    const options = { name, timeoutMs: 1_000 };
    const guarded = { ...options, guard: plan.guard };
    const decide = (payload: unknown, context: HookContext): never => {
      const at = placeOf(context, payload);
      return actWith(stage, name, plan, (late) => resultOf(plan, late), at ? { at } : { anywhere: true }) as never;
    };
    const watch = (payload: unknown, { runId }: HookContext): never => {
      const about = point === "session-end" ? "the end" : undefined;
      return lookOn(stage, name, plan, about === undefined ? undefined : { runId, about }) as never;
    };
    switch (point) {
      case "pre-tool-use":
        registry.onPreToolUse(pattern, decide, guarded);
        break;
      case "post-tool-use":
        registry.onPostToolUse(pattern, decide, guarded);
        break;
      case "post-tool-use-failure":
        registry.onPostToolUseFailure(pattern, decide, guarded);
        break;
      case "subagent-start":
        registry.onSubagentStart(pattern, decide, guarded);
        break;
      case "pre-compact":
        registry.onPreCompact(decide, guarded);
        break;
      case "session-start":
        registry.onSessionStart(decide, guarded);
        break;
      case "notification":
        registry.onNotification(pattern, watch, options);
        break;
      case "subagent-stop":
        registry.onSubagentStop(pattern, watch, options);
        break;
      case "post-compact":
        registry.onPostCompact(watch, options);
        break;
      case "session-end":
        registry.onSessionEnd(watch, options);
        break;
    }
  }
  return registry;
}

/** Where the log keeps what hooks decided about a call, if that follows from what they are told. */
function placeOf({ point, session, runId, callId }: HookContext, payload: unknown): Place | undefined {
  if (callId === undefined) return undefined;
  if (point === "post-tool-use" || point === "post-tool-use-failure") return { session, runId, key: `/${callId}/hooks/post` };
  // Arguments that a person edited are asked about anew.
  return point !== "pre-tool-use" || JSON.stringify(payload).includes("edited")
    ? undefined
    : { session, runId, key: `/${callId}/hooks/pre/0/` };
}

function resultOf({ result, point }: HookPlan, late: boolean): unknown {
  if (!late || result === "continue") return undefined;
  if (result === "abort") return { type: "abort", reason: "not this" };
  if (result === "abort-run") return { type: "abort", reason: "not any more", ends: "run" };
  if (result === "ask") return point === "pre-tool-use" ? { type: "ask", reason: "who knows" } : undefined;
  return point.startsWith("post-tool-use") ? { type: "tell", reason: "mind that" } : undefined;
}

interface Counted {
  count: number;
}

/** A plugin whose state counts its callbacks. */
function pluginOf(plan: PluginPlan, index: number, features: Features, stage: Stage): Plugin {
  const key = `plugin${index}`;
  const { beforeRun, onUserMessage, onEvent, afterRun } = plan.callbacks;
  const directives = (): Directive[] => plan.directives.map(directiveOf);
  const counts = (
    name: string,
    callback: Parameters<typeof actWith>[2],
    state: PluginState<Counted>,
    decide: () => Directive[] | undefined,
  ) =>
    actWith(stage, `${name} of ${key}`, callback, () => {
      state.value.count++;
      return decide();
    });
  return definePlugin<Counted>({
    key,
    initialState: { count: 0 },
    signalRoutes: index === 0 ? routesOf(features, "plugin") : [],
    ...(beforeRun && { beforeRun: (_, state) => counts("beforeRun", beforeRun, state, directives) }),
    ...(onUserMessage && {
      onUserMessage: (_, state) => counts("onUserMessage", onUserMessage, state, () => (state.value.count < 5 ? directives() : [])),
    }),
    ...(onEvent && plan.events && { events: plan.events }),
    ...(onEvent && { onEvent: ({ event }, state) => counts(`onEvent ${event.seq}`, onEvent, state, () => undefined) }),
    ...(afterRun && { afterRun: (_, state) => counts("afterRun", afterRun, state, directives) }),
  }) as Plugin;
}

function middlewareOf({ middleware }: Features, index: number, stage: Stage): PromptMiddleware {
  const plan = middleware[index] as Features["middleware"][number];
  if (plan.does === "mark") return summarisationMark({ maxMessages: 6 });
  const name = `middleware ${index}`;
  return definePromptMiddleware({
    name,
    process: ({ messages, context }) =>
      actWith(stage, name, plan, () => {
        if (plan.does === "terminate") return { type: "terminate" as const, reason: "not today" };
        return {
          type: "continue" as const,
          input: {
            messages:
              plan.does === "append"
                ? [...messages, textMessage("user", "Please.")]
                : plan.does === "replace"
                  ? [textMessage("user", "Rather that.")]
                  : messages,
            context: plan.does === "context" ? { ...context, marked: true } : context,
          },
        };
      }),
  });
}

function routesOf({ signals, strategy }: Features, tier: "strategy" | "agent" | "plugin") {
  const state = strategy?.kind === "fsm" ? strategy.transitions[0]?.to : undefined;
  return (signals?.routes ?? [])
    .filter((route) => route.tier === tier)
    .map(({ kind, action, priority, predicate }) =>
      signalRoute(
        kind,
        actionOf(action, state),
        priority,
        predicate === "none"
          ? undefined
          : (_signal: Signal) => {
              if (predicate === "throw") throw new Error("the predicate failed");
              return false;
            },
      ),
    );
}

function actionOf(action: NonNullable<Features["signals"]>["routes"][number]["action"], state: string | undefined): SignalAction {
  if (action === "transition") return state === undefined ? { type: "continue" } : { type: "transition", state };
  if (action === "custom") return { type: "custom", name: "handle" };
  return { type: action };
}

function respond({ signals }: Features, stage: Stage): never {
  const { handler } = signals as NonNullable<Features["signals"]>;
  return actWith(stage, "onSignal", handler, (): SignalResponse | undefined => {
    switch (handler.responds) {
      case "nothing":
        return undefined;
      case "message":
        return { type: "message", text: "A signal." };
      case "transition":
        return { type: "transition", state: STATES[2] };
      default:
        return { type: handler.responds };
    }
  }) as never;
}

function filterOf(does: NonNullable<Features["effects"]>["filter"]): { name: string; filter(directive: Directive): Directive | undefined } {
  return {
    name: does,
    filter(directive): Directive | undefined {
      if (does === "throw") throw new Error("not this directive");
      if (does === "change" && directive.type === "custom") return { ...directive, payload: "changed" };
      return does === "suppress" ? undefined : directive;
    },
  };
}

export function directiveOf(kind: DirectiveKind): Directive {
  switch (kind) {
    case "emit":
      return { type: "emit", event: { name: "hello" } };
    case "spawn-agent":
      return { type: "spawn-agent", name: "aside", config: { agent: "helper", task: "Help beside." } };
    case "stop-child":
      return { type: "stop-child", name: "aside" };
    case "spawn-task":
      return { type: "spawn-task", description: "dig", input: { depth: 1 } };
    case "stop-task":
      return { type: "stop-task", taskId: "task_none" };
    case "run-instruction":
      return { type: "run-instruction", instruction: "look", input: null };
    case "unknown-instruction":
      return { type: "run-instruction", instruction: "jump", input: null };
    case "custom":
      return { type: "custom", customType: "greet", payload: "hello" };
    case "stop":
      return { type: "stop", reason: "enough" };
  }
}

function effectFor(kind: EffectKind): Effect {
  switch (kind) {
    case "observation":
      return { type: "observation", name: "depth", value: 1 };
    case "log":
      return { type: "log", level: "info", message: "noted" };
    case "progress":
      return { type: "progress", message: "half", ratio: 0.5 };
    case "artifact":
      return { type: "artifact", name: "a.txt", mediaType: "text/plain", content: "text" };
    case "write-memory":
      return { type: "write-memory", scope: { type: "global" }, key: "k", value: 1 };
    case "custom-effect":
      return { type: "custom", name: "shout", payload: "loud" };
    case "endless":
      return { type: "custom", name: "endless", payload: 10n as never };
    default:
      return { type: "directive", directive: directiveOf(kind) };
  }
}

/** A tool that declares an effect instead of running. */
export function effectTool(features: Features, stage: Stage, witnessed: (call: Parameters<Tool["execute"]>[1]) => void): Tool {
  const declared = features.effects?.declared ?? ["observation"];
  return defineEffectTool({
    name: "note",
    description: "Declares an effect.",
    input: { type: "object", properties: { n: { type: "number" } } },
    effect(_input, call) {
      witnessed(call);
      // The same call declares the same, in every process.
      return effectFor(declared[call.callId.charCodeAt(call.callId.length - 1) % declared.length] as EffectKind);
    },
  }) as Tool;
}
