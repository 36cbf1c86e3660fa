import { ToolError, type JsonObject, type SignalKind, type Tool } from "@keelson/protocol";
import { defineTool } from "../../../tools/define-tool.ts";
import { checkOptionNames } from "../../../json/option-names.ts";

export interface WaitForSignalOptions {
  /** Default `wait_for_signal`, or `wait` where it only waits for time. */
  readonly name?: string | undefined;
  /** For the model. Default: says what it waits for. */
  readonly description?: string | undefined;
  /** Signals that end the wait. Default: any; an empty list waits for time alone. */
  readonly kinds?: readonly SignalKind[] | undefined;
  /** The longest wait, in milliseconds; the model may ask for less. Default: none, which only a wait for signals can have. */
  readonly timeoutMs?: number | undefined;
}

/** A tool whose calls last until a signal comes: the run suspends meanwhile, for weeks if need be. The loop itself runs it. */
export interface WaitForSignalTool extends Tool<{ readonly seconds?: number }> {
  readonly waitsFor: { readonly kinds?: readonly SignalKind[]; readonly timeoutMs?: number };
}

/**
 * Lets a model wait for a signal, or for time to pass. The result is `{ signal: { kind, payload } }`, or `{ timedOut: true }`.
 * A signal that stops the run does so and answers nothing; one signal answers one call.
 * @throws ToolError of kind `invalid-definition` for a wait that could never end, and what `defineTool` refuses
 */
export function waitForSignalTool(options: WaitForSignalOptions = {}): WaitForSignalTool {
  checkOptionNames("waitForSignalTool", options, { name: true, description: true, kinds: true, timeoutMs: true });
  const { kinds, timeoutMs } = options;
  const onlyTime = kinds?.length === 0;
  const { name = onlyTime ? "wait" : "wait_for_signal" } = options;
  const wrong = (message: string): ToolError =>
    new ToolError({ kind: "invalid-definition", tool: name, message: `Tool "${name}": ${message}` });
  if (kinds?.some((kind) => typeof kind !== "string" || kind === "")) throw wrong("`kinds` must be names of signals");
  if (onlyTime && timeoutMs === undefined) throw wrong("it waits for no signal, so it needs a `timeoutMs`");
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0))
    throw wrong(`\`timeoutMs\` must be a number over 0, not ${String(timeoutMs)}`);
  const tool = defineTool({
    name,
    description: options.description ?? describe(kinds, timeoutMs),
    effect: "read",
    concurrency: "exclusive",
    input: inputSchema(timeoutMs),
    execute(): never {
      throw new TypeError(`"${name}" is handled by the loop itself, not called`);
    },
  });
  return {
    ...(tool as Tool as WaitForSignalTool),
    waitsFor: { ...(kinds && { kinds: [...kinds] }), ...(timeoutMs !== undefined && { timeoutMs }) },
  };
}

export function isWaitForSignalTool(tool: Tool): tool is WaitForSignalTool & Tool {
  return "waitsFor" in tool;
}

function describe(kinds: readonly string[] | undefined, timeoutMs: number | undefined): string {
  const most = timeoutMs === undefined ? "" : ` At most ${timeoutMs / 1000} seconds.`;
  if (kinds?.length === 0) return `Waits until time has passed.${most}`;
  return `Waits until ${kinds === undefined ? "something" : `one of these`} happens${kinds === undefined ? "" : `: ${kinds.join(", ")}`}, and says what.${most}`;
}

function inputSchema(timeoutMs: number | undefined): JsonObject {
  return {
    type: "object",
    properties:
      timeoutMs === undefined
        ? {}
        : {
            seconds: {
              type: "number",
              exclusiveMinimum: 0,
              maximum: timeoutMs / 1000,
              description: `How long to wait at most. Default ${timeoutMs / 1000}.`,
            },
          },
    additionalProperties: false,
  };
}
