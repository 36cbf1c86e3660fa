import { checkOptionNames, type OptionNames } from "./options/check-option-names.ts";
import type { Content } from "./content.ts";
import type { SessionId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Usd } from "./usd.ts";

export type TriggerType = "user" | "task" | "signal" | "schedule" | "system-event" | (string & {});

/** Per invocation; what is absent is the implementation's default. */
export type OperatorConfig = {
  readonly maxTurns?: number;
  readonly maxCost?: Usd;
  readonly maxDurationMs?: number;
  readonly model?: string;
  /** Restricts sub-dispatch; tool names are operator names. */
  readonly allowedOperators?: readonly string[];
  readonly systemAddendum?: string;
};

const OPERATOR_CONFIG: OptionNames<OperatorConfig> = {
  maxTurns: true,
  maxCost: true,
  maxDurationMs: true,
  model: true,
  allowedOperators: true,
  systemAddendum: true,
};

/**
 * Checks a config that a user writes. One that arrives with an input is data, whose unknown members are kept.
 * @throws AgentError of kind `invalid-option` that names the unknown member
 */
export function checkOperatorConfig(of: string, config: OperatorConfig): void {
  checkOptionNames(of, config, OPERATOR_CONFIG);
}

/** Carries only what is new; history and memory are read while the context is assembled. */
export type OperatorInput = {
  readonly message: readonly Content[];
  readonly trigger: TriggerType;
  readonly session?: SessionId;
  readonly config?: OperatorConfig;
  readonly metadata: JsonObject;
};

/** An input of an operator: what is new, why it comes, and what else it may say. */
export function operatorInput(
  message: string | readonly Content[],
  trigger: TriggerType,
  options: Partial<Omit<OperatorInput, "message" | "trigger">> = {},
): OperatorInput {
  checkOptionNames("operatorInput", options, { session: true, config: true, metadata: true });
  if (options.config !== undefined) checkOperatorConfig("operatorInput.config", options.config);
  const { metadata = {}, ...more } = options;
  return { message: typeof message === "string" ? [{ type: "text", text: message }] : message, trigger, ...more, metadata };
}
