import { DirectiveError, usd, type JsonObject, type JsonValue, type OperatorConfig, type Usd } from "@keelson/protocol";
import type { ChildRequest } from "./child-plan.ts";

/**
 * What a `spawn-agent` directive may say of the child. `agent` is the definition to start (default: the directive's `name`),
 * `task` what it is told (default: the whole of `config` as JSON); the rest narrows it for this time. `maxCost` is in US dollars.
 */
export interface SpawnConfig {
  readonly agent?: string;
  readonly task?: string;
  readonly maxTurns?: number;
  readonly maxCost?: Usd | string | number;
  readonly maxDurationMs?: number;
  readonly model?: string;
  readonly allowedTools?: readonly string[];
  readonly systemAddendum?: string;
  readonly metadata?: JsonObject;
}

/** @throws DirectiveError of kind `execution-failed` that names the field that is wrong */
export function readSpawnConfig(name: string, config: JsonObject): Pick<ChildRequest, "operator" | "input"> {
  const field = <T>(key: keyof SpawnConfig, is: (value: JsonValue) => boolean, what: string): T | undefined => {
    const value = config[key];
    if (value === undefined) return undefined;
    if (is(value)) return value as T;
    const message = `spawn-agent "${name}": \`config.${key}\` must be ${what}, not ${JSON.stringify(value)}.`;
    throw new DirectiveError({ kind: "execution-failed", directive: "spawn-agent", message });
  };
  const isText = (value: JsonValue): boolean => typeof value === "string" && value !== "";
  const isPositive = (value: JsonValue): boolean => typeof value === "number" && value > 0;
  const isAmount = (value: JsonValue): boolean => {
    try {
      return !usd(value as string | number).startsWith("-");
    } catch {
      return false;
    }
  };
  const isObject = (value: JsonValue): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
  const isList = (value: JsonValue): boolean => Array.isArray(value) && value.every((entry) => typeof entry === "string");
  const operator = field<string>("agent", isText, "the name of an agent") ?? name;
  const task = field<string>("task", isText, "a text") ?? JSON.stringify(config);
  const maxTurns = field<number>("maxTurns", isPositive, "a number above zero");
  const maxDurationMs = field<number>("maxDurationMs", isPositive, "a number above zero");
  const maxCost = field<string | number>("maxCost", isAmount, "an amount of US dollars");
  const model = field<string>("model", isText, "the name of a model");
  const allowedOperators = field<readonly string[]>("allowedTools", isList, "a list of names of tools");
  const systemAddendum = field<string>("systemAddendum", isText, "a text");
  const metadata = field<JsonObject>("metadata", isObject, "an object");
  const narrowed: OperatorConfig = {
    ...(maxTurns !== undefined && { maxTurns }),
    ...(maxDurationMs !== undefined && { maxDurationMs }),
    ...(maxCost !== undefined && { maxCost: usd(maxCost) }),
    ...(model !== undefined && { model }),
    ...(allowedOperators !== undefined && { allowedOperators }),
    ...(systemAddendum !== undefined && { systemAddendum }),
  };
  return { operator, input: { message: [{ type: "text", text: task }], config: narrowed, metadata: metadata ?? {} } };
}

/** What a call of an agent's tool says of a child beside the turns: the same, as data. */
export function spawnConfigOf(
  operator: string,
  { maxTurns, maxCost, maxDurationMs, model, allowedOperators, systemAddendum }: OperatorConfig,
  task: string,
): JsonObject {
  return {
    agent: operator,
    task,
    ...(maxTurns !== undefined && { maxTurns }),
    ...(maxCost !== undefined && { maxCost }),
    ...(maxDurationMs !== undefined && { maxDurationMs }),
    ...(model !== undefined && { model }),
    ...(allowedOperators && { allowedTools: [...allowedOperators] }),
    ...(systemAddendum !== undefined && { systemAddendum }),
  };
}
