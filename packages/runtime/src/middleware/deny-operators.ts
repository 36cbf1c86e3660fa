import { OrchestratorError } from "@keelson/protocol";
import type { DispatchMiddleware } from "./dispatch-middleware.ts";

/** A guard that refuses dispatches to these operators: they reject with `OrchestratorError` of kind `policy-denied`. */
export function denyOperators(
  operators: readonly string[],
  reason: string = "it is on the list of operators that are denied",
): DispatchMiddleware {
  const denied = new Set(operators);
  return {
    name: "deny-operators",
    async dispatch(operator, _input, next) {
      if (denied.has(operator))
        throw new OrchestratorError({ kind: "policy-denied", reason, message: `The dispatch to "${operator}" was denied: ${reason}.` });
      return next();
    },
  };
}
