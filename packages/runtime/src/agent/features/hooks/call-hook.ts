import type { CallId, HookPayloads, HookPoint, HookResults } from "@keelson/protocol";
import { isThenable } from "../../../platform/is-thenable.ts";
import { describeValue } from "../../../tools/describe-value.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { toolContextOf } from "../../turn/tool-context.ts";
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
const OBSERVERS: ReadonlySet<HookPoint> = new Set(["notification", "subagent-stop", "post-compact", "session-end", "event"]);

interface CallOptions {
  readonly callId?: CallId | undefined;
  /** It is called although the run is aborted, or about to be. */
  readonly untilEnd?: boolean;
}

/**
 * Calls a hook, for as long as it may take. One that takes longer is told through its signal and left behind. What it says without
 * waiting needs no timer, and counts also where the run is aborted by then.
 */
export async function callHook<P extends HookPoint>(
  loop: Loop,
  hook: RegisteredHook<P>,
  payload: HookPayloads[P],
  { callId, untilEnd = false }: CallOptions,
): Promise<HookEnding<P>> {
  if (loop.execution.outside !== undefined) {
    // Whoever looks on has nothing to see in a rehearsal.
    if (OBSERVERS.has(hook.point)) return { type: "interrupted" };
    loop.execution.goOutside(`the hook "${hook.name}" at ${hook.point}`);
  }
  const controller = new AbortController();
  let returned: unknown;
  try {
    returned = hook.call(payload, contextOf(loop, hook, callId, controller.signal));
  } catch (error) {
    return { type: "threw", error };
  }
  if (!isThenable(returned)) return judged(hook, returned);
  const ended = Promise.withResolvers<HookEnding<P>>();
  let isOver = false;
  let cleanUp = (): void => {};
  const end = (ending: HookEnding<P>): void => {
    if (isOver) return;
    isOver = true;
    cleanUp();
    ended.resolve(ending);
  };
  void Promise.resolve(returned).then(
    (result) => end(judged(hook, result)),
    (error: unknown) => end({ type: "threw", error }),
  );
  await Promise.resolve();
  if (isOver) return ended.promise;
  const { clock, signal } = loop.execution;
  const leave = (type: "interrupted" | "timeout"): void => {
    end({ type });
    controller.abort(type);
  };
  const interrupt = (): void => leave("interrupted");
  const cancelTimer = clock.after(hook.timeoutMs, () => leave("timeout"));
  cleanUp = () => {
    cancelTimer();
    signal.removeEventListener("abort", interrupt);
  };
  if (!untilEnd) signal.addEventListener("abort", interrupt, { once: true });
  if (!untilEnd && signal.aborted) interrupt();
  return ended.promise;
}

function contextOf<P extends HookPoint>(
  loop: Loop,
  { point, name, guard }: RegisteredHook<P>,
  callId: CallId | undefined,
  signal: AbortSignal,
): HookContext<P> {
  const { execution, agent } = loop;
  const { cwd } = agent.options;
  const { metadata, crashes } = runOf(loop);
  return {
    point,
    session: execution.session,
    runId: execution.runId,
    agent: agent.name,
    ...(callId !== undefined && { callId }),
    ...(cwd !== undefined && { cwd }),
    metadata,
    context: toolContextOf(loop),
    guard,
    replayed: crashes > 0,
    signal,
    warn: (message) => warnOfHook(loop, point, `hook "${name}": ${message}`),
  };
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

/** A result that means nothing counts as a throw: what was meant as a refusal must not pass for a `continue`. */
function judged<P extends HookPoint>({ point }: RegisteredHook<P>, result: unknown): HookEnding<P> {
  if (result === undefined || result === null) return { type: "returned", result: CONTINUE };
  const { type, reason } = result as { readonly type?: unknown; readonly reason?: unknown };
  if (RESULT_TYPES[point].includes(type as string) && (type === "continue" || typeof reason === "string"))
    return { type: "returned", result: result as HookResults[P] };
  return {
    type: "threw",
    error: new TypeError(
      `it returned ${describeValue(result)}: return nothing, or a type of ${RESULT_TYPES[point].join(", ")}, and a reason beside all but continue`,
    ),
  };
}
