import type { Content, Digest, ImagePart, JsonValue, Tool, ToolCall, ToolContent, ToolFailure, ToolOutput } from "@keelson/protocol";
import { ToolError } from "@keelson/protocol";
import { asJson, truncateText } from "../json/index.ts";
import { createJsonSchemaValidator, formatIssue } from "../schema/index.ts";
import { boundOutput, type OutputBounds } from "./bound-output.ts";
import { asCallToolResult } from "./as-call-tool-result.ts";
import { toolOutput } from "./call-tool-output.ts";
import { describeThrown } from "./describe-thrown.ts";
import type { LeafControl } from "./leaf-control.ts";
import { isToolContent, whyNotContent } from "./json-output.ts";
import { type LeafClock, runLeaf } from "./run-leaf.ts";

export interface LeafOptions extends OutputBounds {
  /** Time, injected. Default: the platform's timers. */
  readonly clock?: LeafClock | undefined;
  /**
   * How long a tool has after its signal fired: what it returns by then counts, for it may say what was done; afterwards
   * it is abandoned. Default 500.
   */
  readonly graceMs?: number | undefined;
  /** Base64 characters of images and files in one output; default 20 MiB, what the vendors take in a request. */
  readonly maxMediaBytes?: number | undefined;
  /** Why an image of the output can't be shown to the model, if so: a note stands in its place. Default: none is looked at. */
  readonly imageProblem?: ((part: ImagePart) => string | undefined) | undefined;
}

/** What one execution came to. */
export interface LeafResult {
  /** For the model: the output, or in words what went wrong. At most `maxOutputBytes` of text. */
  readonly output: JsonValue;
  readonly isError: boolean;
  /** The whole output, when it was truncated. */
  readonly blob?: Digest;
  /** Why there is no output. A tool that returned `isError` has none: it did run. */
  readonly failure?: ToolFailure;
  /** What went wrong beside it: the whole of a truncated output could not be kept. */
  readonly warning?: string;
}

const DEFAULT_MAX_MEDIA_BYTES = 20 * 1024 * 1024;
const NO_OUTPUT = "(no output)";

/**
 * Executes a leaf once, with the value that `prepareCall` gave. Never throws or rejects, whatever the tool does: throws
 * anything, floods, or ignores its signal, in which case it is left behind and its result dropped. What it returns is made JSON
 * where it is not (`jsonValue`): a call that ran has a result. The output is checked against the output schema (parts are not: a
 * schema describes data).
 */
export function executeLeaf(tool: Tool, value: unknown, call: ToolCall, options: LeafOptions = {}): Promise<LeafResult> {
  return executeHeldLeaf(tool, value, call, options);
}

/** The same for whoever has it in hand while it runs. */
export async function executeHeldLeaf(
  tool: Tool,
  value: unknown,
  call: ToolCall,
  options: LeafOptions,
  control?: LeafControl,
): Promise<LeafResult> {
  const ending = await runLeaf(tool, value, call, options, control);
  switch (ending.type) {
    case "returned":
      return acceptOutput(tool, ending.value, options);
    case "threw":
      return failed(tool, failureOf(tool, ending.error));
    case "timeout":
      return failed(tool, {
        kind: "timeout",
        tool: tool.name,
        timeoutMs: tool.timeoutMs ?? 0,
        message: `The tool "${tool.name}" did not finish within ${tool.timeoutMs} ms and was stopped.${leftBehind(tool)}`,
      });
    case "cancelled":
      return failed(tool, {
        kind: "cancelled",
        tool: tool.name,
        message: ending.started
          ? `The tool "${tool.name}" was cancelled before it finished.${leftBehind(tool)}`
          : `The tool "${tool.name}" was cancelled before it started.`,
      });
  }
}

async function acceptOutput(tool: Tool, returned: ToolOutput | void, options: LeafOptions): Promise<LeafResult> {
  try {
    const value = returned === undefined ? undefined : understoodOutput(tool, asJson(returned));
    const problem = await whyNotAcceptable(tool, value, options.maxMediaBytes ?? DEFAULT_MAX_MEDIA_BYTES);
    if (problem !== undefined) return failed(tool, badOutput(tool, problem));
    const shown = isToolContent(value) && options.imageProblem !== undefined ? withNotes(value, options.imageProblem) : value;
    const bounded = await boundOutput(shown === undefined ? NO_OUTPUT : (shown as ToolOutput), tool, options);
    return { ...bounded, isError: isToolContent(value) && value.isError === true };
  } catch (error) {
    // It is too large to be written out.
    return failed(tool, badOutput(tool, describeThrown(error)));
  }
}

/** A result in the form of the Model Context Protocol is content, unless the output schema of the tool says that it is data. */
function understoodOutput({ outputSchema }: Tool, given: ToolOutput): ToolOutput {
  const result = asCallToolResult(given);
  if (result === undefined) return given;
  const { properties = {} } = (outputSchema ?? {}) as { readonly properties?: object };
  return Object.hasOwn(properties, "content") ? given : toolOutput(result);
}

/** An image that would be refused with every request from now on is not kept. */
function withNotes(output: ToolContent, problemOf: (part: ImagePart) => string | undefined): ToolContent {
  const content = output.content.map((part): Content => {
    const problem = part.type === "image" ? problemOf(part) : undefined;
    return problem === undefined ? part : { type: "text", text: `[An image was left out: ${problem}.]` };
  });
  return { ...output, content };
}

async function whyNotAcceptable(tool: Tool, value: unknown, maxMediaBytes: number): Promise<string | undefined> {
  if (isToolContent(value)) {
    const problem = whyNotContent(value.content);
    if (problem !== undefined) return problem;
    const media = value.content.reduce((sum, part) => sum + ("data" in part && typeof part.data === "string" ? part.data.length : 0), 0);
    return media > maxMediaBytes ? `its images and files hold ${media} bytes of base64, and the limit is ${maxMediaBytes}` : undefined;
  }
  // Returning nothing is a result where none was promised.
  if (tool.outputSchema === undefined) return undefined;
  const issues = await createJsonSchemaValidator(tool.outputSchema)(value ?? null);
  return issues.length === 0 ? undefined : `it does not match the output schema: ${issues.slice(0, 5).map(formatIssue).join("; ")}`;
}

function badOutput(tool: Tool, problem: string): ToolFailure {
  return { kind: "execution-failed", tool: tool.name, message: `The tool "${tool.name}" ran, but its output cannot be used: ${problem}.` };
}

function failureOf(tool: Tool, error: unknown): ToolFailure {
  if (ToolError.is(error)) return error.failure;
  return { kind: "execution-failed", tool: tool.name, message: `The tool "${tool.name}" failed: ${describeThrown(error)}` };
}

function failed(tool: Tool, failure: ToolFailure): LeafResult {
  const message = truncateText(failure.message, tool.maxOutputBytes).text;
  return { output: message, isError: true, failure: message === failure.message ? failure : { ...failure, message } };
}

/** Told only where it matters: a read leaves nothing behind. */
function leftBehind(tool: Tool): string {
  return tool.effect === "read" ? "" : " What it had done by then was not undone: check before trying again.";
}
