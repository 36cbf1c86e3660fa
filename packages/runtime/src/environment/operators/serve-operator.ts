import type { Operator } from "@keelson/protocol";
import { asJson } from "../../json/json-value.ts";
import { linkToStarter } from "./link-to-starter.ts";
import type { FromOperator } from "./operator-messages.ts";
import { RemoteContext, RemoteSuspension } from "./remote-context.ts";
import { settle } from "./settled.ts";

/**
 * Makes this process that of an operator, which an environment starts for each run. Called by the module that
 * `createProcessEnvironment`, or another environment, names:
 *
 * ```ts
 * serveOperator({
 *   async execute(input, context) {
 *     …
 *   },
 * });
 * ```
 *
 * @throws Error in a process that no environment started
 */
export function serveOperator(operator: Operator): void {
  const link = linkToStarter();
  // A bigint or a date in an output must not make the work that led to it fail.
  const send = (message: FromOperator): void => link.send(asJson(message) as FromOperator);
  let context: RemoteContext | undefined;
  link.listen((message) => {
    if (message.type !== "execute") return context?.hear(message);
    const opened = (context = new RemoteContext(message.context, send));
    void execute(operator, message.input, opened, send);
  });
  send({ type: "ready" });
}

async function execute(
  operator: Operator,
  input: Parameters<Operator["execute"]>[0],
  context: RemoteContext,
  send: (message: FromOperator) => void,
): Promise<void> {
  let isSuspended = false;
  const result = await settle(async () => {
    try {
      return await operator.execute(input, context);
    } catch (error) {
      isSuspended = error instanceof RemoteSuspension;
      throw error;
    }
  });
  context.end();
  if (isSuspended) return;
  send(result.ok ? { type: "output", output: result.value as never } : { type: "error", error: result.error });
}
