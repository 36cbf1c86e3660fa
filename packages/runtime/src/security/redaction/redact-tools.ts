import type { ToolCall } from "@keelson/protocol";
import type { AnyTool } from "../../agent/definition/tool-context/context-factory.ts";
import { isDispatchTool } from "../../tools/dispatch-tool.ts";
import { asJson } from "../../json/index.ts";
import { withoutSecretsThrown } from "./redact-error.ts";
import type { Redactor } from "./redactor.ts";

/**
 * The same tools, of which nobody is told secrets: neither the model nor the log nor a watcher. What they return, report on the way and
 * throw is redacted before it is bounded or kept. What they are called with is not changed. Tools that start agents stay as they are: redact
 * the tools of those.
 */
export function redactTools<T extends AnyTool>(tools: readonly T[], redactor: Redactor): readonly T[] {
  return tools.map((tool) => (isDispatchTool(tool) ? tool : redactTool(tool, redactor)));
}

function redactTool<T extends AnyTool>(tool: T, redactor: Redactor): T {
  const quiet = (call: ToolCall): ToolCall => ({ ...call, progress: (message, ratio) => call.progress(redactor.redact(message), ratio) });
  const redacted = (output: unknown): unknown => (output === undefined ? undefined : redactor.redactJson(asJson(output)));
  const execute = async (input: unknown, call: ToolCall): Promise<unknown> =>
    redacted(await withoutSecretsThrown(redactor, async () => tool.execute(input, quiet(call))));
  const reconcile = async (input: unknown, call: ToolCall): Promise<unknown> =>
    redacted(await withoutSecretsThrown(redactor, async () => tool.reconcile?.(input, quiet(call))));
  return Object.create(tool, { execute: { value: execute }, ...(tool.reconcile && { reconcile: { value: reconcile } }) }) as T;
}
