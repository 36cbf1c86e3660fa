import { AgentError } from "@keelson/protocol";
import { isHookRegistry, type HookRegistry } from "./hook-registry.ts";
import type { AfterTurn, BeforeTurn } from "./turn-callback.ts";

/** The options of an agent that look on its work. */
export interface HookAgentOptions {
  /** Called at eleven points of a run; made with `createHookRegistry`. */
  readonly hooks?: HookRegistry | undefined;
  /** Called before the model is asked in each turn; `abort` ends the run as `halted`. Its verdict is recorded; one that throws ends the run (`panic`). */
  readonly beforeTurn?: BeforeTurn | undefined;
  /** Called after each turn, whether it went well or the run ended in it. It only looks on; after a crash it may be called again. */
  readonly afterTurn?: AfterTurn | undefined;
  /** Environment variables of the programs that tools start through `call.exec`, told to `instructions` as well. Their values never reach the log. */
  readonly env?: { readonly [name: string]: string } | undefined;
}

/** @throws AgentError of kind `invalid-option` that names the option */
export function checkHookOptions({ hooks, beforeTurn, afterTurn, env }: HookAgentOptions): void {
  if (hooks !== undefined && !isHookRegistry(hooks)) throw invalid("hooks", "hooks must be made with createHookRegistry");
  for (const [option, callback] of [
    ["beforeTurn", beforeTurn],
    ["afterTurn", afterTurn],
  ] as const) {
    if (callback !== undefined && typeof callback !== "function") throw invalid(option, `${option} must be a function`);
  }
  if (env === undefined) return;
  if (typeof env !== "object" || env === null || Array.isArray(env)) throw invalid("env", "env must be an object of names and texts");
  for (const [name, value] of Object.entries(env as { readonly [name: string]: unknown })) {
    if (name === "" || /[=\0]/.test(name))
      throw invalid(`env`, `env names the variable ${JSON.stringify(name)}, which no program could be given`);
    if (typeof value !== "string" || value.includes("\0"))
      throw invalid(`env.${name}`, `env.${name} must be a text without NUL characters, not a value of type ${typeof value}`);
  }
}

/** What of them is part of a definition's digest: names, never values of variables. */
export function hookOptionsDigest({ hooks, beforeTurn, afterTurn, env }: HookAgentOptions): { readonly [part: string]: unknown } {
  return {
    hooks: hooks?.hooks,
    beforeTurn: beforeTurn && `function ${beforeTurn.name}`,
    afterTurn: afterTurn && `function ${afterTurn.name}`,
    env: env && Object.keys(env).toSorted(),
  };
}

function invalid(option: string, message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${message}.` });
}
