import { checkOptionNames } from "./options/check-option-names.ts";
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
  const { metadata = {}, ...more } = options;
  return { message: typeof message === "string" ? [{ type: "text", text: message }] : message, trigger, ...more, metadata };
}
