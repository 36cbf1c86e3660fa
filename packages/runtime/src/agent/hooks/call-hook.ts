import type { CallId, HookPayloads, HookPoint, HookResults } from "@keelson/protocol";
import { describeValue } from "../../tools/describe-value.ts";
import { isThenable } from "../../tools/is-thenable.ts";
import { runOf, type Loop } from "../loop/loop.ts";
import type { HookContext } from "./hook.ts";
import type { RegisteredHook } from "./hook-registry.ts";

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
  const controlled = new Controlled();
  let returned: unknown;
  try {
    returned = hook.call(payload, contextOf(loop, hook, controlled, options.callId));
  } catch (error) {
    return { type: "threw", error };
  }
  return isThenable(returned) ? awaited(loop, hook, returned, controlled, options) : judged(hook, returned);
}

async function awaited<P extends HookPoint>(
  loop: Loop,
  hook: RegisteredHook<P>,
  returned: PromiseLike<unknown>,
  controlled: Controlled,
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
      controlled.abort(why.type);
      wake();
    };
    if (options.untilEnd !== true && signal.aborted) interrupt();
  });
}

/** A signal that is made when somebody looks at it. */
class Controlled {
  #controller: AbortController | undefined;
  #reason: string | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: string): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

function contextOf<P extends HookPoint>(
  loop: Loop,
  { point, name, guard }: RegisteredHook<P>,
  controlled: Controlled,
  callId: CallId | undefined,
): HookContext<P> {
  const { execution, agent } = loop;
  const { cwd } = agent.options;
  const run = runOf(loop);
  const context: HookContext<P> & { callId?: CallId; cwd?: string } = {
    point,
    session: execution.session,
    runId: execution.runId,
    agent: agent.name,
    metadata: run.metadata,
    guard,
    replayed: run.crashes > 0,
    get signal() {
      return controlled.signal;
    },
    warn: (message) => warnOfHook(loop, point, `hook "${name}": ${message}`),
  };
  if (callId !== undefined) context.callId = callId;
  if (cwd !== undefined) context.cwd = cwd;
  return context;
}

/** Shows a warning to the watchers. One about a notification hook notifies nobody: it would go round in circles. */
export function warnOfHook(loop: Loop, point: HookPoint, status: string): void {
  const { hooks } = loop;
  const before = hooks?.quiet ?? false;
  if (hooks) hooks.quiet = before || point === "notification";
  loop.execution.emit({ type: "status", status, level: "warn" });
  if (hooks) hooks.quiet = before;
}

const ANSWERS: { readonly [P in HookPoint]: readonly string[] } = {
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
};

/** An answer that means nothing counts as a throw: what was meant as a refusal must not pass for a `continue`. */
function judged<P extends HookPoint>({ point }: RegisteredHook<P>, result: unknown): HookEnding<P> {
  if (result === undefined || result === null) return { type: "returned", result: CONTINUE };
  const { type, reason } = result as { readonly type?: unknown; readonly reason?: unknown };
  if (ANSWERS[point].includes(type as string) && (type === "continue" || typeof reason === "string"))
    return { type: "returned", result: result as HookResults[P] };
  return {
    type: "threw",
    error: new TypeError(
      `it answered ${describeValue(result)}: answer with nothing, or with a type of ${ANSWERS[point].join(", ")}, and a reason beside all but continue`,
    ),
  };
}
