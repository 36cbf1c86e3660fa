import type { ExecuteResponse, HookPoint, HookResults, JsonObject } from "@keelson/protocol";
import { parseJson } from "../../../json/index.ts";
import type { HookContext } from "../../definition/hooks/hook.ts";

const BLOCKED = 2;

/** How a command ended that is a hook, or why it could not be run. */
type Ended =
  | { readonly response: ExecuteResponse; readonly maxOutputBytes: number }
  | { readonly response?: undefined; readonly problem: string };

/**
 * What a shell hook says with its exit code and its output.
 * @throws Error when a guard has not given a clear result: it fails closed
 */
export function resultOfShell<P extends HookPoint>(context: HookContext<P>, ended: Ended): HookResults[P] | undefined {
  const said = read(context, ended);
  if ("problem" in said) {
    if (context.guard) throw new Error(said.problem);
    context.warn(said.problem);
    return undefined;
  }
  return resultOf(context, said) as HookResults[P] | undefined;
}

interface Said {
  readonly verdict?: "block" | "ask" | "stop";
  readonly reason: string;
  /** For the model. */
  readonly remark?: string;
}

function read(context: HookContext, ended: Ended): Said | { readonly problem: string } {
  if (ended.response === undefined) return { problem: `could not be run: ${ended.problem}` };
  const { exitCode, signal, stdout, stderr, stdoutBytes } = ended.response;
  if (exitCode === BLOCKED) return { verdict: "block", reason: stderr.trim() || "it gave no reason" };
  if (exitCode !== 0)
    return {
      problem: `ended with ${exitCode === null ? `the signal ${signal}` : `code ${exitCode}`}: ${stderr.trim() || "it wrote nothing to stderr"}`,
    };
  const text = stdout.trim();
  const tooLong = stdoutBytes > ended.maxOutputBytes ? `printed ${stdoutBytes} bytes; ${ended.maxOutputBytes} are read` : undefined;
  if (!text.startsWith("{")) {
    if (holdsAnswer(text))
      return { problem: "printed text around its answer: print the JSON alone on stdout, and everything else on stderr" };
    // An answer may be in the part that is not read.
    if (tooLong !== undefined && context.guard) return { problem: tooLong };
    // Other text is a log of the command.
    return { reason: "" };
  }
  if (tooLong !== undefined) return { problem: tooLong };
  let printed: JsonObject;
  try {
    printed = parseJson(text) as JsonObject;
  } catch (error) {
    return { problem: `printed what is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  return readPrinted(context, printed);
}

/** True for text that is no JSON as a whole and may hold a decision all the same: an object on a line of its own, a field of an answer, a bare verdict. */
function holdsAnswer(text: string): boolean {
  return (
    /^[^\S\n]*\{/m.test(text) ||
    /permissionDecision|hookSpecificOutput/.test(text) ||
    (/[{[]/.test(text) && /(?:decision|continue)\\?["']?\s*:/i.test(text)) ||
    /^["']?(?:deny|denied|block|blocked|ask)["']?$/i.test(text)
  );
}

const ANSWER_FIELDS: ReadonlySet<string> = new Set(
  "continue stopReason suppressOutput systemMessage decision reason hookSpecificOutput".split(" "),
);
const SPECIFIC_FIELDS: ReadonlySet<string> = new Set(
  "hookEventName permissionDecision permissionDecisionReason updatedInput additionalContext updatedToolOutput updatedMCPToolOutput".split(
    " ",
  ),
);

/** The reason why an answer may mean something else than what is read of it. */
function misreading(printed: JsonObject): string | undefined {
  const { continue: goOn, decision, hookSpecificOutput } = printed;
  if (goOn !== undefined && typeof goOn !== "boolean") return `has the continue ${JSON.stringify(goOn)}, which is neither true nor false`;
  if (hookSpecificOutput !== undefined && (typeof hookSpecificOutput !== "object" || hookSpecificOutput === null))
    return `has the hookSpecificOutput ${JSON.stringify(hookSpecificOutput)}, which is no object`;
  const specific = objectOf(hookSpecificOutput);
  if (goOn === false || (decision ?? specific["permissionDecision"] ?? undefined) !== undefined) return undefined;
  const field =
    Object.keys(printed).find((name) => !ANSWER_FIELDS.has(name)) ?? Object.keys(specific).find((name) => !SPECIFIC_FIELDS.has(name));
  if (field === undefined) return undefined;
  const hint =
    field === "permissionDecision" ? ": it belongs into hookSpecificOutput" : field === "decision" ? ": it belongs outside of it" : "";
  return `printed the field ${JSON.stringify(field)}, which is not read there${hint}, and no decision`;
}

const VERDICTS: { readonly [decision: string]: Said["verdict"] | "none" } = {
  deny: "block",
  block: "block",
  ask: "ask",
  allow: "none",
  approve: "none",
  defer: "none",
};

function readPrinted(context: HookContext, printed: JsonObject): Said | { readonly problem: string } {
  const misread = misreading(printed);
  if (misread !== undefined) return { problem: misread };
  const specific = objectOf(printed["hookSpecificOutput"]);
  const message = textOf(printed["systemMessage"]);
  if (message !== undefined) context.warn(message);
  const remark = textOf(specific["additionalContext"]);
  for (const field of ["updatedInput", "updatedToolOutput", "updatedMCPToolOutput"])
    if (specific[field] !== undefined) context.warn(`its ${field} is not used: hooks don't rewrite anything`);
  if (remark !== undefined && !isAfterTool(context.point))
    context.warn("its additionalContext is not used: only after a tool call is the model told what a hook says");

  const general = textOf(printed["reason"]) ?? "";
  if (printed["continue"] === false) return { verdict: "stop", reason: textOf(printed["stopReason"]) ?? (general || "it gave no reason") };
  let strictest: Said = { reason: "", ...(remark !== undefined && { remark }) };
  for (const [decision, reason] of [
    [printed["decision"], general],
    [specific["permissionDecision"], textOf(specific["permissionDecisionReason"]) ?? general],
  ] as const) {
    if (decision === undefined || decision === null) continue;
    const verdict = typeof decision === "string" && Object.hasOwn(VERDICTS, decision) ? VERDICTS[decision] : undefined;
    if (verdict === undefined)
      return { problem: `decided ${JSON.stringify(decision)}, which is none of ${Object.keys(VERDICTS).join(", ")}` };
    if (verdict === "block" || (verdict === "ask" && strictest.verdict !== "block"))
      strictest = { ...strictest, verdict, reason: reason || "it gave no reason" };
  }
  return strictest;
}

function resultOf(
  { point, guard, warn }: HookContext,
  { verdict, reason, remark }: Said,
): HookResults[HookPoint] | HookResults["pre-tool-use"] | HookResults["post-tool-use"] | undefined {
  if (verdict === "stop") return { type: "abort", reason, ends: "run" };
  if (isAfterTool(point)) {
    const told = [...(verdict === undefined ? [] : [reason]), ...(remark === undefined ? [] : [remark])].join("\n");
    return told === "" ? undefined : { type: "tell", reason: told };
  }
  if (verdict === "block") return { type: "abort", reason };
  if (verdict !== "ask") return undefined;
  if (point === "pre-tool-use") return { type: "ask", reason };
  // There is nobody to ask about anything but a call.
  if (guard) return { type: "abort", reason };
  warn(`it wants a person asked, which is done for tool calls only: ${reason}`);
  return undefined;
}

function isAfterTool(point: HookPoint): boolean {
  return point === "post-tool-use" || point === "post-tool-use-failure";
}

function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
