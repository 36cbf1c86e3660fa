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
 * A promise only where a hook waits.
 * @returns the strictest verdict; nothing when all continue
 * @throws AgentError of kind `panic` when a hook that is no guard throws; `RunEnding` when the run is aborted meanwhile
 */
export function askHooks<P extends DecidingPoint>(loop: Loop, about: About<P>): HookVerdict | undefined | Promise<HookVerdict | undefined> {
  const { execution } = loop;
  const { key } = about;
  if (execution.lookup(key) !== undefined) return execution.verdict<HookVerdict | undefined>(key, () => undefined);
  const asked = consult(loop, about, frozenCopy(about.payload), 0, UNHEARD);
  return asked instanceof Promise ? asked.then((waited) => settle(loop, key, waited)) : settle(loop, key, asked);
}

type Consultation =
  | { readonly type: "verdict"; readonly verdict: HookVerdict | undefined }
  | { readonly type: "panic"; readonly panic: AgentError }
  | { readonly type: "interrupted" };

const UNHEARD: Consultation = { type: "verdict", verdict: undefined };

function settle(loop: Loop, key: string, asked: Consultation): HookVerdict | undefined | Promise<HookVerdict | undefined> {
  if (asked.type === "interrupted") checkEnding(loop);
  return loop.execution.verdict<HookVerdict | undefined>(key, () => {
    if (asked.type === "panic") throw asked.panic;
    return asked.type === "verdict" ? asked.verdict : undefined;
  });
}

/** Asks the hooks from the one at `index` on, until one ends it. @param earlier what those before it came to */
function consult<P extends DecidingPoint>(
  loop: Loop,
  about: About<P>,
  shown: HookPayloads[P],
  index: number,
  earlier: Consultation,
): Consultation | Promise<Consultation> {
  const hook = about.hooks[index];
  if (hook === undefined || earlier.type !== "verdict" || earlier.verdict?.type === "abort") return earlier;
  const ending = callHook(loop, hook, shown, about);
  if (ending instanceof Promise)
    return ending.then((waited) => consult(loop, about, shown, index + 1, heard(loop, hook, waited, earlier.verdict)));
  return consult(loop, about, shown, index + 1, heard(loop, hook, ending, earlier.verdict));
}

/** What a hook's ending adds to what those before it came to. */
function heard<P extends DecidingPoint>(
  loop: Loop,
  hook: RegisteredHook<P>,
  ending: HookEnding<P>,
  earlier: HookVerdict | undefined,
): Consultation {
  if (ending.type === "interrupted") return { type: "interrupted" };
  if (ending.type === "threw" && !hook.guard) return { type: "panic", panic: panicOf(hook, ending.error) };
  const given = verdictOf(loop, hook, ending);
  if (ending.type === "timeout" && given === undefined)
    warnOfHook(loop, hook.point, `hook "${hook.name}" at ${hook.point} was skipped: ${tooLong(hook)}`);
  if (given === undefined) return earlier === undefined ? UNHEARD : { type: "verdict", verdict: earlier };
  return { type: "verdict", verdict: given.type === "abort" || earlier === undefined ? given : joined(earlier, given) };
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
