import { AgentError, type HookPayloads, type HookPoint, type JsonObject } from "@keelson/protocol";
import type { GuardOptions, Hook, HookContext } from "../../definition/hooks/hook.ts";
import { createHookRegistry, type HookRegistry } from "../../definition/hooks/hook-registry.ts";
import { createShellHook, shellHook, type ShellHookOptions } from "./shell-hook.ts";
import { notificationType, SHELL_EVENTS, type ShellPoint } from "./shell-hook-input.ts";
import { aliasesOf, matchedAlias } from "../../../tools/find-alias.ts";
import type { ToolAlias } from "../../../tools/tool-aliases.ts";
import { checkOptionNames } from "../../../json/option-names.ts";

export interface HooksFromJsonOptions extends Omit<ShellHookOptions, "command" | "args" | "timeoutMs"> {
  /** Makes guards of all hooks that can block. A hook may say `"guard": true` for itself. Default false. */
  readonly guard?: boolean | undefined;
  /** Told what is left out of a file that was written for others as well: events and kinds of hooks that are not known here. Without it they are errors. */
  readonly onUnsupported?: ((message: string) => void) | undefined;
  /** The registry that they are added to. Default: a new one. */
  readonly registry?: HookRegistry | undefined;
  /**
   * `claude`: the commands were written for Claude Code, and know every tool by its name there, with the arguments that it has there. Default:
   * only those whose matcher names a tool so.
   */
  readonly spelling?: "claude" | undefined;
  /** Runs the hooks whose entry says `"sandbox": true`. Without it such a hook is an error. */
  readonly sandboxExec?: ShellHookOptions["exec"] | undefined;
}

/**
 * Reads shell hooks from the settings that coding agents share: `{ "hooks": { "PreToolUse": [{ "matcher": "Bash|Edit",
 * "hooks": [{ "type": "command", "command": "./check.sh", "timeout": 60 }] }] } }`, with the time in seconds. A matcher of
 * letters, digits, `_` and `|` names tools; any other is a regular expression; `*`, nothing and an empty text match all.
 * @throws AgentError of kind `invalid-option` that names the place
 */
export function hooksFromJson(config: unknown, options: HooksFromJsonOptions): HookRegistry {
  checkOptionNames("hooksFromJson", options, {
    guard: true,
    onUnsupported: true,
    sandboxExec: true,
    registry: true,
    spelling: true,
    exec: true,
    cwd: true,
    env: true,
    toolNames: true,
    maxOutputBytes: true,
  });
  const { guard: guardAll = false, onUnsupported, sandboxExec, registry = createHookRegistry(), spelling, ...shell } = options;
  if (spelling !== undefined && spelling !== "claude") throw invalid("spelling", `it must be "claude", not ${JSON.stringify(spelling)}`);
  const unsupported = (path: string, message: string): void => {
    if (onUnsupported === undefined) throw invalid(path, message);
    onUnsupported(`${path}: ${message}`);
  };
  for (const [event, groups] of Object.entries(objectAt(objectAt(config, "config")["hooks"] ?? {}, "hooks"))) {
    const point = POINTS.get(event);
    if (point === undefined) {
      unsupported(`hooks.${event}`, `there is no event ${JSON.stringify(event)} here; there are ${[...POINTS.keys()].join(", ")}`);
      continue;
    }
    for (const [index, group] of listAt(groups, `hooks.${event}`).entries()) {
      const path = `hooks.${event}[${index}]`;
      const { matcher, hooks } = objectAt(group, path);
      const matches = matcherOf(matcher, `${path}.matcher`);
      for (const [position, entry] of listAt(hooks, `${path}.hooks`).entries()) {
        const place = `${path}.hooks[${position}]`;
        const handler = objectAt(entry, place);
        if (handler["type"] !== "command") {
          unsupported(`${place}.type`, `hooks of the type ${JSON.stringify(handler["type"])} are not run here, only "command"`);
          continue;
        }
        register(registry, point, matches, {
          shell: { ...shell, exec: executorOf(handler, place, { exec: shell.exec, sandboxExec }), ...commandOf(handler, place) },
          guard: !OBSERVED.has(point) && (guardAll || handler["guard"] === true),
          isOfClaude: spelling === "claude",
        });
      }
    }
  }
  return registry;
}

const POINTS: ReadonlyMap<string, ShellPoint> = new Map(Object.entries(SHELL_EVENTS).map(([point, event]) => [event, point as ShellPoint]));
const OBSERVED: ReadonlySet<HookPoint> = new Set<HookPoint>(["notification", "subagent-stop", "post-compact", "session-end"]);

/** Absent: matches everything. */
type Matches = (((text: string) => boolean) & { readonly names?: readonly string[] }) | undefined;

function register(
  registry: HookRegistry,
  point: ShellPoint,
  matches: Matches,
  { shell, guard, isOfClaude }: { readonly shell: ShellHookOptions; readonly guard: boolean; readonly isOfClaude: boolean },
): void {
  const options: GuardOptions = guard ? { guard } : {};
  // A matcher names a tool as the command knows it: by the option, by our name, or by the name that another agent has for it.
  const toolNames = shell.toolNames ?? {};
  const isNamed = (name: string): boolean =>
    matches === undefined || matches(Object.hasOwn(toolNames, name) ? (toolNames[name] as string) : name);
  const aliasNamed = (name: string): ToolAlias | undefined =>
    matches === undefined || isNamed(name) ? undefined : aliasInMatcher(matches, name);
  const spelling = (name: string): ToolAlias | undefined => aliasNamed(name) ?? (isOfClaude ? matchedAlias(name, () => true) : undefined);
  const tool = matches && named(matches, (name) => isNamed(name) || aliasNamed(name) !== undefined);
  switch (point) {
    case "pre-tool-use":
      return void registry.onPreToolUse(tool ?? "*", shellHook(shell, spelling), options);
    case "post-tool-use":
      return void registry.onPostToolUse(tool ?? "*", shellHook(shell, spelling), options);
    case "post-tool-use-failure":
      return void registry.onPostToolUseFailure(tool ?? "*", shellHook(shell, spelling), options);
    case "subagent-start":
      return void registry.onSubagentStart(matches ?? "*", createShellHook(shell), options);
    case "subagent-stop":
      return void registry.onSubagentStop(matches ?? "*", createShellHook(shell));
    case "notification":
      return void registry.onNotification(
        "*",
        filtered(createShellHook(shell), matches, (_payload, { callId }) => notificationType(callId)),
      );
    case "pre-compact":
      return void registry.onPreCompact(
        filtered(createShellHook(shell), matches, () => "auto"),
        options,
      );
    case "post-compact":
      return void registry.onPostCompact(filtered(createShellHook(shell), matches, () => "auto"));
    case "session-start":
      return void registry.onSessionStart(
        filtered(createShellHook(shell), matches, ({ resumed }) => (resumed ? "resume" : "startup")),
        options,
      );
    case "session-end":
      return void registry.onSessionEnd(filtered(createShellHook(shell), matches, ({ reason }) => reason));
  }
}

/** The name that the author of a matcher knows a tool of ours by. */
function aliasInMatcher(matches: NonNullable<Matches>, tool: string): ToolAlias | undefined {
  if (matches.names === undefined) return matchedAlias(tool, matches);
  return matches.names.flatMap(aliasesOf).find((alias) => alias.tool === tool);
}

/** Where the event is about no tool and no child, a matcher looks at what kind of it this is. */
function filtered<P extends HookPoint>(
  hook: Hook<P>,
  matches: Matches,
  kindOf: (payload: HookPayloads[P], context: HookContext<P>) => string,
): Hook<P> {
  if (matches === undefined) return hook;
  const { label, timeoutMs } = hook;
  return Object.assign(
    async (payload: HookPayloads[P], context: HookContext<P>) => (matches(kindOf(payload, context)) ? hook(payload, context) : undefined),
    { ...(label !== undefined && { label }), ...(timeoutMs !== undefined && { timeoutMs }) },
  );
}

function matcherOf(matcher: unknown, path: string): Matches {
  if (matcher === undefined || matcher === null || matcher === "" || matcher === "*") return undefined;
  if (typeof matcher !== "string") throw invalid(path, `a matcher must be a text, not ${JSON.stringify(matcher)}`);
  if (/^[\w|]+$/.test(matcher)) {
    const names = matcher.split("|");
    return Object.assign(
      named({ name: matcher }, (text) => names.includes(text)),
      { names },
    );
  }
  try {
    const expression = new RegExp(matcher);
    return named({ name: matcher }, (text) => expression.test(text));
  } catch (error) {
    throw invalid(path, `${JSON.stringify(matcher)} is no regular expression: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Under this name the matcher stands in the definition's digest. */
function named(
  { name, names }: { readonly name: string; readonly names?: readonly string[] },
  matches: (text: string) => boolean,
): (text: string) => boolean {
  return Object.defineProperty(names === undefined ? matches : Object.assign(matches, { names }), "name", { value: name });
}

function commandOf(handler: JsonObject, path: string): Pick<ShellHookOptions, "command" | "args" | "timeoutMs"> {
  const { command, args, timeout } = handler;
  if (typeof command !== "string" || command.trim() === "") throw invalid(`${path}.command`, "a hook needs a command line");
  if (args !== undefined && !(Array.isArray(args) && args.every((argument) => typeof argument === "string")))
    throw invalid(`${path}.args`, "args must be a list of texts");
  if (timeout !== undefined && !(typeof timeout === "number" && Number.isFinite(timeout) && timeout > 0))
    throw invalid(`${path}.timeout`, `timeout must be a number of seconds above 0, not ${JSON.stringify(timeout)}`);
  return {
    command,
    ...(args !== undefined && { args: args as readonly string[] }),
    ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
  };
}

function executorOf(
  { sandbox }: JsonObject,
  path: string,
  { exec, sandboxExec }: Pick<HooksFromJsonOptions, "exec" | "sandboxExec">,
): ShellHookOptions["exec"] {
  if (sandbox === undefined || sandbox === false) return exec;
  if (sandbox !== true) throw invalid(`${path}.sandbox`, `sandbox must be true or false, not ${JSON.stringify(sandbox)}`);
  if (sandboxExec === undefined) throw invalid(`${path}.sandbox`, "there is no sandbox here that this hook could run in");
  return sandboxExec;
}

function objectAt(value: unknown, path: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw invalid(path, `it must be an object, not ${JSON.stringify(value)}`);
}

function listAt(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(path, `it must be a list, not ${JSON.stringify(value)}`);
}

function invalid(path: string, message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option: path, message: `${path}: ${message}.` });
}
