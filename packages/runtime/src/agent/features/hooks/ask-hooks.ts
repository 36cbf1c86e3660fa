import { AgentError, type CallId, type HookPayloads } from "@keelson/protocol";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import type { Loop } from "../../turn/loop.ts";
import { checkEnding } from "../../turn/run-ending.ts";
import { callHook, warnOfHook, type HookEnding } from "./call-hook.ts";
import { frozenCopy } from "../../../json/copy-json.ts";
import type { DecidingPoint, HookRegistration, HookVerdict, ObserverPoint } from "../../definition/hooks/hook.ts";
import type { RegisteredHook } from "../../definition/hooks/hook-registry.ts";

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
 * @returns the strictest verdict; nothing when all continue
 * @throws AgentError of kind `panic` when a hook that is no guard throws; `RunEnding` when the run is aborted meanwhile
 */
export async function askHooks<P extends DecidingPoint>(loop: Loop, about: About<P>): Promise<HookVerdict | undefined> {
  const { execution } = loop;
  const { key } = about;
  const asked: Consultation = execution.has(key) ? {} : await consult(loop, about);
  return execution.decide<HookVerdict | undefined>(key, () => {
    if (asked.panic !== undefined) throw asked.panic;
    return asked.verdict;
  });
}

/** What the hooks of a point came to. A run that is aborted meanwhile has no decision: it is thrown. */
interface Consultation {
  readonly verdict?: HookVerdict | undefined;
  readonly panic?: AgentError;
}

async function consult<P extends DecidingPoint>(loop: Loop, about: About<P>): Promise<Consultation> {
  const shown = frozenCopy(about.payload);
  let verdict: HookVerdict | undefined;
  for (const hook of about.hooks) {
    const ending = await callHook(loop, hook, shown, { callId: about.callId });
    if (ending.type === "interrupted") checkEnding(loop);
    if (ending.type === "threw" && !hook.guard) return { panic: panicOf(hook, ending.error) };
    const given = verdictOf(loop, hook, ending);
    if (given?.type === "abort") return { verdict: given };
    if (given !== undefined) verdict = verdict === undefined ? given : joined(verdict, given);
  }
  return { verdict };
}

function verdictOf<P extends DecidingPoint>(loop: Loop, hook: RegisteredHook<P>, ending: HookEnding<P>): HookVerdict | undefined {
  if (ending.type === "returned") {
    const { result } = ending;
    return result.type === "continue" ? undefined : { ...result, by: hook.name };
  }
  if (!hook.guard) {
    if (ending.type === "timeout") warnOfHook(loop, hook.point, `hook "${hook.name}" at ${hook.point} was skipped: ${tooLong(hook)}`);
    return undefined;
  }
  const why = ending.type === "threw" ? `failed: ${describeThrown(ending.error)}` : `gave no result: ${tooLong(hook)}`;
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
export async function notifyHooks<P extends ObserverPoint>(loop: Loop, about: About<P>): Promise<void> {
  const { execution } = loop;
  if (execution.has(about.key)) return;
  await showHooks(loop, about, { untilEnd: true });
  execution.put(about.key, "hooks-told", {});
}

/** {@link notifyHooks} without a trace in the log. */
export async function showHooks<P extends ObserverPoint>(
  loop: Loop,
  { point, hooks, payload, callId }: Omit<About<P>, "key">,
  options: { readonly untilEnd?: boolean; readonly warn?: (hook: HookRegistration, problem: string) => void } = {},
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
    if (problem === undefined) continue;
    if (options.warn) options.warn(hook, problem);
    else warnOfHook(loop, point, `hook "${hook.name}" at ${point} ${problem}`);
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
