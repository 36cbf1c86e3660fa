import type { DispatchMiddleware } from "../../middleware/dispatch-middleware.ts";
import type { ExecMiddleware } from "../../middleware/exec-middleware.ts";
import type { StoreMiddleware } from "../../middleware/store-middleware.ts";
import { withoutSecretsThrown } from "./redact-error.ts";
import type { Redactor } from "./redactor.ts";

/** A transformer that takes secrets out of what dispatches give: messages, effects, the reason of their end, and errors. */
export function redactDispatches(redactor: Redactor): DispatchMiddleware {
  return {
    name: "redact-dispatches",
    dispatch: async (_operator, _input, next) => redactor.redactJson(await withoutSecretsThrown(redactor, next)),
  };
}

/** A transformer that takes secrets out of what runs in an environment give, errors among it. */
export function redactExec(redactor: Redactor): ExecMiddleware {
  return {
    name: "redact-exec",
    run: async (_input, _spec, next) => redactor.redactJson(await withoutSecretsThrown(redactor, next)),
  };
}

/** A transformer that keeps secrets out of a store, and out of what was written into it without this. Keys stay as they are. */
export function redactStore(redactor: Redactor): StoreMiddleware {
  return {
    name: "redact-store",
    read: async (_scope, _key, next) => redactor.redactJson(await next()),
    write: (scope, key, value, options, next) => next(scope, key, redactor.redactJson(value), options),
    search: async (_scope, _query, _options, next) =>
      (await next()).map((result) => (result.snippet === undefined ? result : { ...result, snippet: redactor.redact(result.snippet) })),
  };
}
