import type { Operator } from "@keelson/protocol";
import type { FromOperator, ToOperator } from "./operator-messages.ts";
import { RemoteContext, RemoteSuspension } from "./remote-context.ts";
import { settle } from "./settled.ts";

/**
 * Makes this process that of an operator, which an environment starts for each run. Called by the module that
 * `createProcessEnvironment` names:
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
  if (process.send === undefined)
    throw new Error("This process was not started by an environment. Give its module to `createProcessEnvironment({ module })`.");
  const send = (message: FromOperator): void => {
    // What the one that started it does not hear, since it is gone, has no other listener.
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  };
  let context: RemoteContext | undefined;
  process.on("message", (message: ToOperator) => {
    if (message.type !== "execute") return context?.hear(message);
    const opened = (context = new RemoteContext(message.context, send));
    void execute(operator, message.input, opened, send);
  });
  // Nobody waits any more.
  process.once("disconnect", () => process.exit(1));
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
