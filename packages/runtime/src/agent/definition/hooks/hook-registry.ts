import { AgentError, type HookMatcher, type HookPoint } from "@keelson/protocol";
import { aliasesOf, matchedAlias } from "../../../tools/find-alias.ts";
import { compileGlob, matchesGlob } from "../permissions/glob.ts";
import type { GuardOptions, Hook, HookOptions, HookRegistration, HookSubject } from "./hook.ts";
import { checkOptionNames } from "../../../json/option-names.ts";
import { shown } from "../invalid-option.ts";

/**
 * Collects the hooks of an agent; each method returns the registry. Tool hooks are matched with the tool's name, subagent
 * hooks with the child's, event hooks with the type of the event, notification hooks with the tool that a notification is
 * about: a pattern leaves out the notifications that are about none. Once an agent is made with it, nothing more can be registered.
 */
export interface HookRegistry {
  /** Before a call, when every other gate let it through. `abort` refuses the call, `ask` has a person asked. */
  onPreToolUse(subject: HookSubject, hook: Hook<"pre-tool-use">, options?: GuardOptions): HookRegistry;
  /** After a call that succeeded. `tell` tells the model something, `abort` ends the run. */
  onPostToolUse(subject: HookSubject, hook: Hook<"post-tool-use">, options?: GuardOptions): HookRegistry;
  /** After a call that ran and failed. `tell` tells the model something, `abort` ends the run. */
  onPostToolUseFailure(subject: HookSubject, hook: Hook<"post-tool-use-failure">, options?: GuardOptions): HookRegistry;
  /** On warnings of the runtime, and while a person is asked. Looks on. */
  onNotification(subject: HookSubject, hook: Hook<"notification">, options?: HookOptions): HookRegistry;
  /** Before a child agent starts. `abort` refuses it. */
  onSubagentStart(subject: HookSubject, hook: Hook<"subagent-start">, options?: GuardOptions): HookRegistry;
  /** After a child agent ended. Looks on. */
  onSubagentStop(subject: HookSubject, hook: Hook<"subagent-stop">, options?: HookOptions): HookRegistry;
  /** Before the conversation is compacted. `abort` leaves it as it is. */
  onPreCompact(hook: Hook<"pre-compact">, options?: GuardOptions): HookRegistry;
  /** After the conversation was compacted. Looks on. */
  onPostCompact(hook: Hook<"post-compact">, options?: HookOptions): HookRegistry;
  /** Before a run's first turn, and when a run that waited or was interrupted is taken up again. `abort` ends the run. */
  onSessionStart(hook: Hook<"session-start">, options?: GuardOptions): HookRegistry;
  /** When the result of a run is sure. Looks on. */
  onSessionEnd(hook: Hook<"session-end">, options?: HookOptions): HookRegistry;
  /** On each event that watchers are shown, in their order, the deltas of responses and the events of children included. Looks on. */
  onEvent(subject: HookSubject, hook: Hook<"event">, options?: HookOptions): HookRegistry;
  /** What was registered, in order. */
  readonly hooks: readonly HookRegistration[];
}

export interface RegisteredHook<P extends HookPoint = HookPoint> extends HookRegistration {
  readonly point: P;
  /** @param subject absent: the event is about no tool and no child */
  matches(subject: string | undefined): boolean;
  readonly call: Hook<P>;
  /** The tools that it is about, by the names that its author wrote. Absent for patterns and functions, and for hooks that are about no tools. */
  readonly tools?: readonly string[];
}

export type HooksByPoint = { readonly [P in HookPoint]?: readonly RegisteredHook<P>[] };

interface Registered {
  readonly hooks: RegisteredHook[];
  sealed?: HooksByPoint;
}

const registries = new WeakMap<object, Registered>();
const DEFAULT_TIMEOUT_MS = 30_000;

export function createHookRegistry(): HookRegistry {
  const registered: Registered = { hooks: [] };
  function add<P extends HookPoint>(point: P, subject: HookSubject | undefined, hook: Hook<P>, options: GuardOptions = {}): HookRegistry {
    checkOptionNames(`hooks["${point}"]`, options, { name: true, timeoutMs: true, guard: true });
    if (registered.sealed)
      throw invalid(
        "hooks",
        `an agent was made with these hooks already: register "${point}" before createAgent, or make another registry`,
      );
    // Each is called at its own point only: `hooksByPoint` parts them by it.
    registered.hooks.push(registrationOf(point, subject, hook, options) as unknown as RegisteredHook);
    return registry;
  }
  const registry: HookRegistry = {
    onPreToolUse: (subject, hook, options) => add("pre-tool-use", subject, hook, options),
    onPostToolUse: (subject, hook, options) => add("post-tool-use", subject, hook, options),
    onPostToolUseFailure: (subject, hook, options) => add("post-tool-use-failure", subject, hook, options),
    onNotification: (subject, hook, options) => add("notification", subject, hook, options),
    onSubagentStart: (subject, hook, options) => add("subagent-start", subject, hook, options),
    onSubagentStop: (subject, hook, options) => add("subagent-stop", subject, hook, options),
    onPreCompact: (hook, options) => add("pre-compact", undefined, hook, options),
    onPostCompact: (hook, options) => add("post-compact", undefined, hook, options),
    onSessionStart: (hook, options) => add("session-start", undefined, hook, options),
    onSessionEnd: (hook, options) => add("session-end", undefined, hook, options),
    onEvent: (subject, hook, options) => add("event", subject, hook, options),
    get hooks() {
      return registered.hooks.map(({ point, name, pattern, timeoutMs, guard }) => ({
        point,
        name,
        ...(pattern !== undefined && { pattern }),
        timeoutMs,
        guard,
      }));
    },
  };
  registries.set(registry, registered);
  return registry;
}

export function isHookRegistry(value: unknown): value is HookRegistry {
  return typeof value === "object" && value !== null && registries.has(value);
}

/** Closes a registry: from now on it says the same to every run. @returns its hooks; nothing when there is none */
export function sealHooks(registry: HookRegistry): HooksByPoint | undefined {
  const registered = registries.get(registry) as Registered;
  if (registered.sealed === undefined) {
    const byPoint: { [point: string]: RegisteredHook[] } = {};
    for (const hook of registered.hooks) (byPoint[hook.point] ??= []).push(hook);
    registered.sealed = byPoint as HooksByPoint;
  }
  return registered.hooks.length === 0 ? undefined : registered.sealed;
}

function registrationOf<P extends HookPoint>(
  point: P,
  subject: HookSubject | undefined,
  hook: Hook<P>,
  { name, timeoutMs, guard = false }: GuardOptions,
): RegisteredHook<P> {
  const matcher: HookMatcher = typeof subject === "object" && subject !== null && !(subject instanceof RegExp) ? subject : {};
  checkOptionNames(`The matcher of hooks["${point}"]`, matcher, { toolNamePattern: true, timeoutMs: true });
  if (typeof hook !== "function") throw invalid(`hooks["${point}"]`, `a hook at "${point}" must be a function, not ${String(hook)}`);
  if (guard && OBSERVED.has(point))
    throw invalid(`hooks["${point}"].guard`, `a hook at "${point}" only looks on, so it can't be a guard: take "guard" away`);
  if (typeof guard !== "boolean") throw invalid(`hooks["${point}"].guard`, `guard must be true or false, not ${shown(guard)}`);
  const time = timeoutMs ?? matcher.timeoutMs ?? hook.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  if (!(Number.isFinite(time) && time > 0))
    throw invalid(`hooks["${point}"].timeoutMs`, `the timeoutMs of a hook must be a number above 0, not ${String(time)}`);
  const pattern =
    subject instanceof RegExp || typeof subject === "string" || typeof subject === "function" ? subject : matcher.toolNamePattern;
  if (pattern === "" || (typeof pattern === "object" && !(pattern instanceof RegExp)))
    throw invalid(`hooks["${point}"].matcher`, `a matcher must be a pattern such as "file_*", "*" for everything, or a regular expression`);
  return {
    point,
    name: name ?? hook.label ?? (hook.name || `${point} hook`),
    ...(pattern !== undefined &&
      pattern !== "*" && { pattern: typeof pattern === "function" ? `function ${pattern.name}` : String(pattern) }),
    timeoutMs: time,
    guard,
    matches: matching(pattern, TOOL_POINTS.has(point)),
    ...(TOOL_POINTS.has(point) && isNaming(pattern) && { tools: namesIn(pattern) }),
    call: hook,
  };
}

const OBSERVED: ReadonlySet<HookPoint> = new Set<HookPoint>(["notification", "subagent-stop", "post-compact", "session-end", "event"]);

const TOOL_POINTS: ReadonlySet<HookPoint> = new Set<HookPoint>(["pre-tool-use", "post-tool-use", "post-tool-use-failure", "notification"]);

type Pattern = string | RegExp | ((name: string) => boolean) | undefined;

/** True for a matcher that lists names: `Bash|Edit`, or one read from settings. */
function isNaming(pattern: Pattern): pattern is string | NamingMatcher {
  if (typeof pattern === "string") return !pattern.includes("*");
  return typeof pattern === "function" && Array.isArray((pattern as Partial<NamingMatcher>).names);
}

/** A function with the names that it matches. */
export interface NamingMatcher {
  (name: string): boolean;
  readonly names: readonly string[];
}

function namesIn(pattern: string | NamingMatcher): readonly string[] {
  return typeof pattern === "string" ? pattern.split("|") : pattern.names;
}

function matching(pattern: Pattern, isAboutTools: boolean): (subject: string | undefined) => boolean {
  if (pattern === undefined || pattern === "*") return () => true;
  if (pattern instanceof RegExp) {
    // Without the flags that make an expression remember where it was.
    const expression = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
    const isMeant = (name: string): boolean => expression.test(name);
    return (subject) => subject !== undefined && (isMeant(subject) || (isAboutTools && matchedAlias(subject, isMeant) !== undefined));
  }
  if (typeof pattern === "function") return (subject) => subject !== undefined && pattern(subject);
  const globs = pattern.split("|").map(compileGlob);
  const isMeant = (name: string): boolean => globs.some((glob) => matchesGlob(glob, name));
  const aliases = isAboutTools ? pattern.split("|").flatMap(aliasesOf) : [];
  return (subject) => subject !== undefined && (isMeant(subject) || aliases.some(({ tool }) => tool === subject));
}

function invalid(option: string, message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${message}.` });
}
