import { AgentError, type CallId, type HookPayloads } from "@keelson/protocol";
import { whenThere } from "../../context/when-there.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
import type { Loop } from "../loop/loop.ts";
import { checkEnding } from "../loop/run-ending.ts";
import { callHook, warnOfHook, type HookEnding } from "./call-hook.ts";
import { frozenCopy } from "../../json/copy-json.ts";
import type { DecidingPoint, HookRegistration, HookVerdict, ObserverPoint } from "./hook.ts";
import type { RegisteredHook } from "./hook-registry.ts";

interface About<P extends DecidingPoint | ObserverPoint> {
  readonly point: P;
  /** Place in the log. */
  readonly key: string;
  readonly hooks: readonly RegisteredHook<P>[];
  readonly payload: HookPayloads[P];
  readonly callId?: CallId | undefined;
}

/**
 * Asks the hooks of a point, one after another, until one aborts. What they came to is a recorded decision: a replay reads it.
 * A promise only where a hook waits.
 * @returns the strictest verdict; nothing when all continue
 * @throws AgentError of kind `panic` when a hook that is no guard throws; `RunEnding` when the run is aborted meanwhile
 */
export function askHooks<P extends DecidingPoint>(loop: Loop, about: About<P>): HookVerdict | undefined | Promise<HookVerdict | undefined> {
  const { execution } = loop;
  const { key } = about;
  if (execution.lookup(key) !== undefined) return execution.verdict<HookVerdict | undefined>(key, () => undefined);
  return whenThere(consult(loop, about, frozenCopy(about.payload), 0, undefined), (asked) => {
    if (asked.type === "interrupted") checkEnding(loop);
    return execution.verdict<HookVerdict | undefined>(key, () => {
      if (asked.type === "panic") throw asked.panic;
      return asked.type === "verdict" ? asked.verdict : undefined;
    });
  });
}

type Consultation =
  | { readonly type: "verdict"; readonly verdict: HookVerdict | undefined }
  | { readonly type: "panic"; readonly panic: AgentError }
  | { readonly type: "interrupted" };

/** Asks the hooks from the one at `index` on. @param earlier what those before it came to */
function consult<P extends DecidingPoint>(
  loop: Loop,
  about: About<P>,
  shown: HookPayloads[P],
  index: number,
  earlier: HookVerdict | undefined,
): Consultation | Promise<Consultation> {
  const hook = about.hooks[index];
  if (hook === undefined) return { type: "verdict", verdict: earlier };
  return whenThere<HookEnding<P>, Consultation>(callHook(loop, hook, shown, { callId: about.callId }), (ending) => {
    if (ending.type === "interrupted") return { type: "interrupted" };
    if (ending.type === "threw" && !hook.guard) return { type: "panic", panic: panicOf(hook, ending.error) };
    const given = verdictOf(loop, hook, ending);
    if (given?.type === "abort") return { type: "verdict", verdict: given };
    if (ending.type === "timeout") warnOfHook(loop, about.point, `hook "${hook.name}" at ${about.point} was skipped: ${tooLong(hook)}`);
    return consult(loop, about, shown, index + 1, earlier && given ? joined(earlier, given) : (given ?? earlier));
  });
}

function verdictOf<P extends DecidingPoint>(loop: Loop, hook: RegisteredHook<P>, ending: HookEnding<P>): HookVerdict | undefined {
  if (ending.type === "returned") {
    const { result } = ending;
    return result.type === "continue" ? undefined : { ...result, by: hook.name };
  }
  if (!hook.guard) return undefined;
  const why = ending.type === "threw" ? `failed: ${describeThrown(ending.error)}` : `gave no answer: ${tooLong(hook)}`;
  warnOfHook(loop, hook.point, `guard "${hook.name}" at ${hook.point} ${why}`);
  return { type: "abort", by: hook.name, reason: `this guard ${why}` };
}

function joined(earlier: HookVerdict, later: HookVerdict): HookVerdict {
  return { ...earlier, by: `${earlier.by}, ${later.by}`, reason: `${earlier.reason}; ${later.reason}` };
}

/**
 * Tells hooks of something that is over. None of them can change anything: what goes wrong with one is a warning. Once told,
 * they are not told again, except where the process ended before the log could note it.
 */
export async function tellHooks<P extends ObserverPoint>(loop: Loop, about: About<P>): Promise<void> {
  const { execution } = loop;
  if (execution.lookup(about.key) !== undefined) return;
  await showHooks(loop, about, { untilEnd: true });
  execution.note(about.key, "hooks-told", {});
}

/** {@link tellHooks} without a trace in the log. */
export async function showHooks<P extends ObserverPoint>(
  loop: Loop,
  { point, hooks, payload, callId }: Omit<About<P>, "key">,
  options: { readonly untilEnd?: boolean } = {},
): Promise<void> {
  const shown = frozenCopy(payload);
  for (const hook of hooks) {
    const ending = await callHook(loop, hook, shown, { callId, ...options });
    if (ending.type === "interrupted") return;
    const problem =
      ending.type === "timeout"
        ? `was skipped: ${tooLong(hook)}`
        : ending.type === "threw"
          ? `failed: ${describeThrown(ending.error)}`
          : ending.result.type === "abort"
            ? `can't abort what is over: ${ending.result.reason}`
            : undefined;
    if (problem !== undefined) warnOfHook(loop, point, `hook "${hook.name}" at ${point} ${problem}`);
  }
}

function panicOf({ name, point }: HookRegistration, error: unknown): AgentError {
  const callback = `hook ${name}`;
  return new AgentError(
    { kind: "panic", callback, message: `the hook "${name}" at ${point} failed: ${describeThrown(error)}` },
    { cause: error },
  );
}

function tooLong({ timeoutMs }: HookRegistration): string {
  return `it took longer than ${timeoutMs} ms`;
}
