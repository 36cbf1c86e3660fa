import { AgentError, type ModelFailure } from "@keelson/protocol";
import { describeValue } from "../../tools/describe-value.ts";
import type { ModelErrorAction } from "../definition/agent.ts";
import type { Loop } from "../turn/loop.ts";
import { runContext } from "../turn/run-context.ts";

/** What the agent's own callback wants after a failed model call, whatever kind it is; nothing where it leaves it to the runner. */
export async function askOnModelError(
  loop: Loop,
  key: string,
  failure: ModelFailure,
  retryCount: number,
): Promise<ModelErrorAction | undefined> {
  const { onModelError } = loop.agent.options;
  if (onModelError === undefined) return undefined;
  const context = runContext(loop, retryCount);
  const action = await loop.execution.decide(`${key}/on-model-error`, async () => checked(await onModelError(failure, context)));
  return action ?? undefined;
}

/** Plain JavaScript may return anything, and an action that nobody understands must not pass for one that ends the run. */
function checked(action: ModelErrorAction | undefined | null): ModelErrorAction | null {
  if (action === undefined || action === null) return null;
  switch (action.type) {
    case "retry":
      return action;
    case "abort":
      if (typeof action.message === "string") return action;
      break;
    case "switch-model":
      if (typeof action.model === "string") return action;
      break;
  }
  throw new AgentError({
    kind: "panic",
    callback: "onModelError",
    message: `onModelError returned ${describeValue(action)}: return { type: "retry" }, { type: "abort", message }, { type: "switch-model", model }, or nothing. A failed call left no response to go on from, so there is no "continue".`,
  });
}
