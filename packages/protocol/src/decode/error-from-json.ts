import { AgentError } from "../errors/agent-error.ts";
import { DecodeError } from "../errors/decode-error.ts";
import { DirectiveError } from "../errors/directive-error.ts";
import { EnvironmentError } from "../errors/environment-error.ts";
import type { KeelsonError, SerializedError } from "../errors/keelson-error.ts";
import { LogError } from "../errors/log-error.ts";
import { McpError } from "../errors/mcp-error.ts";
import { ModelError } from "../errors/model-error.ts";
import { OperatorError } from "../errors/operator-error.ts";
import { OrchestratorError } from "../errors/orchestrator-error.ts";
import { StateError } from "../errors/state-error.ts";
import { StrategyError } from "../errors/strategy-error.ts";
import { ToolError } from "../errors/tool-error.ts";
import { VfsError } from "../errors/vfs-error.ts";
import type { JsonObject } from "../json.ts";
import { count, fields, flag, optional, text, type Codec } from "./codec.ts";
import { versioned } from "./versioned.ts";

const CLASSES: ReadonlyMap<string, (data: SerializedError) => KeelsonError> = new Map([
  ["AgentError", (data: SerializedError): KeelsonError => AgentError.fromJSON(data)],
  ["DecodeError", (data) => DecodeError.fromJSON(data)],
  ["DirectiveError", (data) => DirectiveError.fromJSON(data)],
  ["EnvironmentError", (data) => EnvironmentError.fromJSON(data)],
  ["LogError", (data) => LogError.fromJSON(data)],
  ["McpError", (data) => McpError.fromJSON(data)],
  ["ModelError", (data) => ModelError.fromJSON(data)],
  ["OperatorError", (data) => OperatorError.fromJSON(data)],
  ["OrchestratorError", (data) => OrchestratorError.fromJSON(data)],
  ["StateError", (data) => StateError.fromJSON(data)],
  ["StrategyError", (data) => StrategyError.fromJSON(data)],
  ["ToolError", (data) => ToolError.fromJSON(data)],
  ["VfsError", (data) => VfsError.fromJSON(data)],
]);

const failure: Codec<JsonObject> = fields<{ readonly kind: string; readonly message: string }>({
  kind: text(),
  message: text(),
}) as Codec<JsonObject>;

export const serializedErrorCodec: Codec<SerializedError> = versioned(
  "error",
  fields<SerializedError>({
    v: count as Codec<1>,
    error: text(),
    failure: failure as Codec<SerializedError["failure"]>,
    retryable: flag,
    cause: optional(text()),
  }),
);

/**
 * Makes the error that `toJSON` wrote, of its own class. A kind that a later version added stays as it is, and is not
 * retried; an error of an unknown class becomes an `AgentError` of kind `other` that holds it as `failure.error`.
 * @throws DecodeError when the data is no error
 */
export function errorFromJSON(data: unknown): KeelsonError {
  const serialized = serializedErrorCodec.decode(data);
  const create = CLASSES.get(serialized.error);
  if (create !== undefined) return create(serialized);
  const { message } = serialized.failure as { readonly message: string };
  return new AgentError({ kind: "other", message, ...{ error: data } }, { cause: serialized.cause });
}
