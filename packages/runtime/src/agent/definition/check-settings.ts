import type { EffortLevel, ThinkingConfig } from "@keelson/protocol";
import type { InferenceSettings } from "../../context/compile-request.ts";
import type { AgentOptions } from "./agent.ts";
import { checkMembers, invalidOption, shown } from "./invalid-option.ts";

export const EFFORTS: readonly EffortLevel[] = ["low", "medium", "high", "max"];
type Settings = NonNullable<AgentOptions<never>["settings"]>;

type Check = readonly [isRight: (value: unknown) => boolean, what: string];
const amount: Check = [(value) => Number.isFinite(value) && (value as number) >= 0, "a number from 0"];

/** A setting that is added needs a line here. */
const SETTINGS: { readonly [S in keyof Required<Settings>]: Check } = {
  maxTokens: [(value) => Number.isSafeInteger(value) && (value as number) >= 1, "a whole number of at least 1"],
  temperature: amount,
  topP: [(value) => Number.isFinite(value) && (value as number) >= 0 && (value as number) <= 1, "a number from 0 to 1"],
  stopSequences: [(value) => Array.isArray(value) && value.every((text) => typeof text === "string" && text !== ""), "a list of texts"],
  toolChoice: [
    (value) =>
      value === "auto" ||
      value === "none" ||
      value === "required" ||
      typeof (value as { readonly name?: unknown } | null)?.name === "string",
    '"auto", "none", "required", or { name } with the name of a tool',
  ],
  cache: [(value) => value === "auto" || value === "none", '"auto" or "none"'],
  extra: [(value) => typeof value === "object" && value !== null && !Array.isArray(value), "an object of fields for the request body"],
};
const ELSEWHERE: readonly (keyof InferenceSettings)[] = ["effort", "thinking", "output"];

/** Checks what is asked of the model. @throws AgentError of kind `invalid-option` */
export function checkModelOptions({ effort, thinking, settings }: Pick<AgentOptions<never>, "effort" | "thinking" | "settings">): void {
  if (effort !== undefined) checkEffort(effort);
  if (thinking !== undefined) checkThinking(thinking);
  if (settings === undefined) return;
  for (const name of ELSEWHERE)
    if ((settings as { readonly [name: string]: unknown } | null)?.[name] !== undefined)
      throw invalidOption(`settings.${name}`, `must be given as the option ${name} of the agent instead`);
  checkMembers("settings", settings, Object.keys(SETTINGS), "{ temperature: 0 }");
  for (const [name, [isRight, what]] of Object.entries(SETTINGS)) {
    const value: unknown = settings[name as keyof Settings];
    if (value !== undefined && !isRight(value)) throw invalidOption(`settings.${name}`, `must be ${what}, not ${shown(value)}`);
  }
}

/** @throws AgentError of kind `invalid-option` that names the levels */
export function checkEffort(effort: unknown): void {
  if (!(EFFORTS as readonly unknown[]).includes(effort))
    throw invalidOption("effort", `must be one of ${EFFORTS.join(", ")}, not ${shown(effort)}`);
}

function checkThinking(thinking: ThinkingConfig): void {
  const { type, budgetTokens } = (thinking ?? {}) as { readonly type?: unknown; readonly budgetTokens?: unknown };
  if (type !== "adaptive" && type !== "enabled" && type !== "disabled")
    throw invalidOption(
      "thinking",
      `must have the type adaptive, enabled or disabled, as in { type: "enabled", budgetTokens: 2000 }, not ${shown(thinking)}`,
    );
  if (type === "enabled" && !(Number.isSafeInteger(budgetTokens) && (budgetTokens as number) >= 1))
    throw invalidOption("thinking.budgetTokens", `must be a whole number of at least 1, not ${shown(budgetTokens)}`);
}
