import { StrategyError, type GuardCondition, type JsonValue } from "@keelson/protocol";

/**
 * A condition on a transition. `check` is given the action's input and must be pure: it is asked again on replay.
 * @throws StrategyError when it has no name: refusals name their guards
 */
export function closureGuard(name: string, check: (input: JsonValue) => boolean): GuardCondition {
  if (typeof name !== "string" || name === "")
    throw new StrategyError({ kind: "other", message: "A guard needs a name: it stands in the error when the guard refuses." });
  if (typeof check !== "function")
    throw new StrategyError({ kind: "other", message: `The guard "${name}" needs a function of the input.` });
  return { name, check };
}
