import type { Content } from "./content.ts";
import type { OperatorInput, TriggerType } from "./operator.ts";

/** An input of an operator: what is new, why it comes, and what else it may say. */
export function operatorInput(
  message: string | readonly Content[],
  trigger: TriggerType,
  { metadata = {}, ...more }: Partial<Omit<OperatorInput, "message" | "trigger">> = {},
): OperatorInput {
  return { message: typeof message === "string" ? [{ type: "text", text: message }] : message, trigger, ...more, metadata };
}
