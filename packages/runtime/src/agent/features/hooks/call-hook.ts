import type { CallId, HookPayloads, HookPoint, HookResults, RunId, SessionId } from "@keelson/protocol";
import { describeValue } from "../../../tools/describe-value.ts";
import { isThenable } from "../../../platform/is-thenable.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import type { HookContext } from "../../definition/hooks/hook.ts";
import type { RegisteredHook } from "../../definition/hooks/hook-registry.ts";
import { hooksOf } from "./loop-hooks.ts";

/** What one call of a hook came to. */
export type HookEnding<P extends HookPoint> =
  | { readonly type: "returned"; readonly result: HookResults[P] }
  | { readonly type: "threw"; readonly error: unknown }
  | { readonly type: "timeout" }
  /** The run was aborted meanwhile. */
  | { readonly type: "interrupted" };

const CONTINUE = { type: "continue" } as const;

interface CallOptions {
  readonly callId?: CallId | undefined;
  /** It is called although the run is aborted, or about to be. */
  readonly untilEnd?: boolean;
}

/**
 * Calls a hook, for as long as it may take. One that takes longer is told through its signal and left behind. A promise only
 * where the hook gives one.
 */
export function callHook<P extends HookPoint>(
  loop: Loop,
  hook: RegisteredHook<P>,
  payload: HookPayloads[P],
  options: CallOptions,
): HookEnding<P> | Promise<HookEnding<P>> {
  const context = new CallContext(loop, hook, options.callId);
  let returned: unknown;
  try {
    returned = hook.call(payload, context);
  } catch (error) {
    return { type: "threw", error };
  }
  return isThenable(returned) ? awaited(loop, hook, returned, context, options) : judged(hook, returned);
}

async function awaited<P extends HookPoint>(
  loop: Loop,
  hook: RegisteredHook<P>,
  returned: PromiseLike<unknown>,
  context: CallContext<P>,
  options: CallOptions,
): Promise<HookEnding<P>> {
  const { clock, signal } = loop.execution;
  let ending: HookEnding<P> | undefined;
  let wake = (): void => {};
  returned.then(
    (result) => {
      ending ??= judged(hook, result);
      wake();
    },
    (error: unknown) => {
      ending ??= { type: "threw", error };
      wake();
    },
  );
  // What is settled by now needs no timer.
  await undefined;
  if (ending !== undefined) return ending;
  return new Promise((resolve) => {
    const interrupt = (): void => leave({ type: "interrupted" });
    const cancel = clock.after(hook.timeoutMs, () => leave({ type: "timeout" }));
    if (options.untilEnd !== true) signal.addEventListener("abort", interrupt, { once: true });
    wake = () => {
      cancel();
      signal.removeEventListener("abort", interrupt);
      resolve(ending as HookEnding<P>);
    };
    const leave = (why: HookEnding<P>): void => {
      if (ending !== undefined) return;
      ending = why;
      CallContext.abort(context, why.type);
      wake();
    };
    if (options.untilEnd !== true && signal.aborted) interrupt();
  });
}

/** Its members are its own, so that it can be spread. A class, since a literal with an accessor gets a hidden class of its own each time. */
class CallContext<P extends HookPoint> implements HookContext<P> {
  readonly point: P;
  readonly session: SessionId;
  readonly runId: RunId;
  readonly agent: string;
  declare readonly callId?: CallId;
  declare readonly cwd?: string;
  readonly metadata: HookContext["metadata"];
  readonly guard: boolean;
  readonly replayed: boolean;
  declare readonly signal: AbortSignal;
  readonly warn: HookContext["warn"];
  #controller: AbortController | undefined;
  #reason: string | undefined;

  // Made when somebody looks at it.
  static readonly #signal: PropertyDescriptor = {
    enumerable: true,
    get(this: CallContext<HookPoint>): AbortSignal {
      if (this.#controller === undefined) {
        this.#controller = new AbortController();
        if (this.#reason !== undefined) this.#controller.abort(this.#reason);
      }
      return this.#controller.signal;
    },
  };

  constructor(loop: Loop, { point, name, guard }: RegisteredHook<P>, callId: CallId | undefined) {
    const { execution, agent } = loop;
    const { cwd } = agent.options;
    const { metadata, crashes } = runOf(loop);
    this.point = point;
    this.session = execution.session;
    this.runId = execution.runId;
    this.agent = agent.name;
    if (callId !== undefined) this.callId = callId;
    if (cwd !== undefined) this.cwd = cwd;
    this.metadata = metadata;
    this.guard = guard;
    this.replayed = crashes > 0;
    Object.defineProperty(this, "signal", CallContext.#signal);
    this.warn = (message) => warnOfHook(loop, point, `hook "${name}": ${message}`);
  }

  /** Not for the hook. */
  static abort(context: CallContext<HookPoint>, reason: string): void {
    context.#reason = reason;
    context.#controller?.abort(reason);
  }
}

/**
 * Shows a warning to the watchers. One about a notification hook notifies nobody, one about an event hook is no event for
 * such hooks either: it would go round in circles.
 */
export function warnOfHook(loop: Loop, point: HookPoint, status: string): void {
  if (point === "event") warnOfEventHook(loop, status);
  else if (point === "notification") warnQuietly(loop, status);
  else loop.execution.emit({ type: "status", status, level: "warn" });
}

/** Shows a warning to the watchers, and notifies nobody. */
export function warnQuietly(loop: Loop, status: string): void {
  const hooks = hooksOf(loop);
  const before = hooks?.quiet ?? false;
  if (hooks) hooks.quiet = true;
  loop.execution.emit({ type: "status", status, level: "warn" });
  if (hooks) hooks.quiet = before;
}

function warnOfEventHook(loop: Loop, status: string): void {
  const events = hooksOf(loop)?.events;
  if (events === undefined) return warnQuietly(loop, status);
  // The run's last event was shown: its watchers are told nothing more.
  if (events.isOver) return process.emitWarning(status, "KeelsonWarning");
  events.isHidden = true;
  warnQuietly(loop, status);
  events.isHidden = false;
}

const RESULT_TYPES: { readonly [P in HookPoint]: readonly string[] } = {
  "pre-tool-use": ["continue", "abort", "ask"],
  "post-tool-use": ["continue", "abort", "tell"],
  "post-tool-use-failure": ["continue", "abort", "tell"],
  "notification": ["continue", "abort"],
  "subagent-start": ["continue", "abort"],
  "subagent-stop": ["continue", "abort"],
  "pre-compact": ["continue", "abort"],
  "post-compact": ["continue", "abort"],
  "session-start": ["continue", "abort"],
  "session-end": ["continue", "abort"],
  "event": ["continue", "abort"],
};

/** An answer that means nothing counts as a throw: what was meant as a refusal must not pass for a `continue`. */
function judged<P extends HookPoint>({ point }: RegisteredHook<P>, result: unknown): HookEnding<P> {
  if (result === undefined || result === null) return { type: "returned", result: CONTINUE };
  const { type, reason } = result as { readonly type?: unknown; readonly reason?: unknown };
  if (RESULT_TYPES[point].includes(type as string) && (type === "continue" || typeof reason === "string"))
    return { type: "returned", result: result as HookResults[P] };
  return {
    type: "threw",
    error: new TypeError(
      `it answered ${describeValue(result)}: answer with nothing, or with a type of ${RESULT_TYPES[point].join(", ")}, and a reason beside all but continue`,
    ),
  };
}
