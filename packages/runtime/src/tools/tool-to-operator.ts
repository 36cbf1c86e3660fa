import {
  type CallId,
  type Content,
  type JsonValue,
  type Operator,
  OperatorError,
  type OperatorInput,
  type Tool,
  ToolError,
  ZERO_USD,
} from "@keelson/protocol";
import { shortHash } from "../json/index.ts";
import { createToolCall } from "./create-tool-call.ts";
import { executeLeaf, type LeafOptions, type LeafResult } from "./execute-leaf.ts";
import { isToolContent } from "./json-output.ts";
import { type CallArguments, prepareCall } from "./prepare-call.ts";
import { unattendedTool } from "./unattended-tool.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { BOUND_OPTION } from "../json/option-rules.ts";

/**
 * Any leaf where an operator is expected: its arguments are `metadata.input`, or else the text of the message as JSON.
 * One execution is one step. Arguments that do not fit, a call that needs a person's approval, and a tool that fails reject with `OperatorError`.
 */
export function toolToOperator(tool: Tool, options: LeafOptions & { readonly agent?: string | undefined } = {}): Operator {
  checkOptionNames("toolToOperator", options, {
    clock: true,
    graceMs: BOUND_OPTION,
    maxMediaBytes: true,
    imageProblem: true,
    blobs: true,
    maxBlobBytes: BOUND_OPTION,
    agent: true,
  });
  return {
    async execute(input, context) {
      const prepared = await prepareCall(tool, argumentsOf(input));
      if (!prepared.ok)
        throw new OperatorError({ kind: "non-retryable", message: prepared.message }, { cause: new ToolError(prepared.failure) });
      const key = `tool/${tool.name}`;
      const step = await context.step(key, async (attempt): Promise<LeafResult> => {
        const call = createToolCall({
          callId: `c_${shortHash(`${context.runId}/${key}`)}` as CallId,
          runId: context.runId,
          session: context.session,
          agent: options.agent ?? "",
          idempotencyKey: attempt.idempotencyKey,
          attempt: attempt.number,
          signal: attempt.signal,
        });
        return await executeLeaf(unattendedTool(tool), prepared.value, call, options);
      });
      if (!step.ok) throw new OperatorError({ kind: step.failure.retryable ? "retryable" : "other", message: step.failure.message });
      const { output, isError, failure } = step.value;
      if (isError) {
        const cause = failure === undefined ? undefined : new ToolError(failure);
        throw new OperatorError({ kind: "non-retryable", message: failure?.message ?? textOf(contentOf(output)) }, { cause });
      }
      return {
        message: contentOf(output),
        exitReason: { type: "complete" },
        metadata: {
          tokensIn: 0,
          tokensOut: 0,
          cost: ZERO_USD,
          turnsUsed: 0,
          subDispatches: [],
          durationMs: step.endedAt - step.startedAt,
          untracked: [],
        },
        effects: [],
      };
    },
  };
}

function argumentsOf(input: OperatorInput): CallArguments {
  const given = input.metadata["input"];
  return given === undefined ? { inputText: textOf(input.message) } : { input: given };
}

function contentOf(output: JsonValue): readonly Content[] {
  if (isToolContent(output)) return output.content;
  return [{ type: "text", text: typeof output === "string" ? output : JSON.stringify(output) }];
}

function textOf(content: readonly Content[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
