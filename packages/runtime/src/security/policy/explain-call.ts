import type { CallEffects, Executor, Loss, PermissionBehavior, PermissionPolicy, Tool } from "@keelson/protocol";
import { type CompiledPolicy, compilePolicy } from "../../agent/definition/permissions/compiled-policy.ts";
import type { PermissionDecision } from "../../agent/definition/permissions/permission-decision.ts";
import { seePath } from "../../agent/definition/permissions/path-pattern.ts";
import { decidePermission } from "../../agent/features/permissions/decide-permission.ts";
import { approvalReason } from "../../tools/approval-reason.ts";
import { createToolCall } from "../../tools/create-tool-call.ts";
import { asTools } from "../../agent/definition/tool-context/context-factory.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { canonicalJson } from "../../json/canonical-json.ts";

/** One thing that a call would do, and what the policies say of it alone. */
export interface ExplainedEffect {
  readonly kind: "command" | "read" | "write" | "host" | "loss" | "unknown";
  /** The command, the path, the host, what may be lost, or the sentence that says what can't be known. */
  readonly text: string;
  readonly behavior: PermissionBehavior;
  /** The rule or the reason, for a person. */
  readonly reason: string;
}

export interface ExplainedCall {
  /** What would happen with the call as a whole. */
  readonly decision: PermissionDecision;
  /** Absent where the tool doesn't say what its calls do. */
  readonly effects?: CallEffects;
  readonly parts: readonly ExplainedEffect[];
}

export interface ExplainCallOptions {
  readonly tool: Tool<unknown, never>;
  readonly input: unknown;
  /** Of the run, outermost first. */
  readonly policies: readonly PermissionPolicy[];
  /** The agent's working directory, absolute. */
  readonly cwd?: string | undefined;
  /** Judges each part where it runs in a sandbox; the tool's own effects say whether it does. */
  readonly executor?: Pick<Executor, "confine"> | undefined;
}

/**
 * Says what policies would do with a call, and why: what the tool says that it would start, read, write and connect to, with a verdict on each.
 * Runs nothing.
 * @throws TypeError when the tool does not take this input
 */
export async function explainCall(options: ExplainCallOptions): Promise<ExplainedCall> {
  checkOptionNames("explainCall", options, { tool: true, input: true, policies: true, cwd: true, executor: true });
  const { input, policies, cwd, executor } = options;
  const [tool] = asTools([options.tool]) as [Tool];
  const parsed = await tool.parse(input);
  if (parsed.issues !== undefined)
    throw new TypeError(`${tool.name} does not take this input: ${parsed.issues.map(({ message }) => message).join("; ")}`);
  const said = await tool.effectsOf?.(parsed.value, cwd === undefined ? {} : { cwd });
  const confine = async (effects: CallEffects): Promise<CallEffects> => (await executor?.confine?.(effects)) ?? effects;
  const effects = said === undefined || said.confined !== undefined ? said : await confine(said);
  const json = (): string => canonicalJson(parsed.value as never);
  const argumentText = (): string => tool.permissionText?.(parsed.value, effects) ?? json();
  const compiled = policies.map((policy) => compilePolicy(policy));
  const approval = await approvalReason(tool, parsed.value, createToolCall(cwd === undefined ? {} : { cwd }));
  const decision = decidePermission({ policies: compiled, tool, argumentText, argumentsJson: json, effects, cwd, approval });
  if (effects === undefined) return { decision, parts: [] };
  const judge = { tool, compiled, cwd, argumentText, whole: effects, confine };
  const parts = await Promise.all([
    ...(effects.commands ?? []).map((command) => explainCommand(judge, command)),
    ...(effects.reads ?? []).map((path) => explainTouched(judge, "read", path, { reads: [path] })),
    ...(effects.writes ?? []).map((path) => explainTouched(judge, "write", path, { writes: [path] })),
    ...(effects.hosts ?? []).map((host) => explainTouched(judge, "host", host, { hosts: [host] })),
    ...(effects.loses ?? []).map((loss) => explainLoss(judge, loss)),
    ...(effects.unknown ?? []).map((text) => explainUnknown(judge, text)),
  ]);
  return { decision, effects, parts };
}

interface Judge {
  readonly tool: Tool;
  readonly compiled: readonly CompiledPolicy[];
  readonly cwd: string | undefined;
  readonly argumentText: () => string;
  readonly whole: CallEffects;
  readonly confine: (effects: CallEffects) => Promise<CallEffects>;
}

/** A part of a call is confined where the call is; what of the part is refused, only the executor can say. */
async function partOf({ whole, confine }: Judge, part: CallEffects): Promise<CallEffects> {
  if (whole.confined === undefined) return part;
  const confined = await confine(part);
  return confined.confined === undefined ? { ...part, confined: { refused: [] } } : confined;
}

async function explainCommand(judge: Judge, command: NonNullable<CallEffects["commands"]>[number]): Promise<ExplainedEffect> {
  const { tool, compiled, cwd } = judge;
  const effects = await partOf(judge, { commands: [command] });
  const { behavior, reason } = decidePermission({ policies: compiled, tool, argumentText: command.text, effects, cwd });
  return { kind: "command", text: command.text, behavior, reason };
}

async function explainLoss({ tool, compiled, cwd }: Judge, loss: Loss): Promise<ExplainedEffect> {
  const subject = { name: tool.name, effect: "read", risk: "none" } as const;
  const { behavior, reason } = decidePermission({ policies: compiled, tool: subject, argumentText: "", effects: { loses: [loss] }, cwd });
  return { kind: "loss", text: loss.description, behavior, reason };
}

async function explainUnknown(judge: Judge, text: string): Promise<ExplainedEffect> {
  const { tool, compiled, cwd, argumentText } = judge;
  const effects = await partOf(judge, { commands: [], unknown: [text] });
  const { behavior, reason } = decidePermission({ policies: compiled, tool, argumentText, effects, cwd });
  return { kind: "unknown", text, behavior, reason };
}

/** Files and hosts are asked about for what they are; whether the call needs a question at all is said of its commands. */
async function explainTouched(judge: Judge, kind: "read" | "write" | "host", text: string, part: CallEffects): Promise<ExplainedEffect> {
  const { tool, compiled, cwd } = judge;
  const effects = await partOf(judge, part);
  const subject = { name: tool.name, effect: kind === "read" ? "read" : tool.effect, risk: "none" } as const;
  const { behavior, reason, rule } = decidePermission({ policies: compiled, tool: subject, argumentText: "", effects, cwd });
  if (behavior !== "allow" || rule !== undefined) return { kind, text, behavior, reason };
  const isOutside = kind !== "host" && effects.confined === undefined && !seePath(text, cwd).inside;
  return {
    kind,
    text,
    behavior,
    reason: isOutside
      ? "No rule is about it. It lies outside of the working directory, so a command that only reads asks for it."
      : "No rule is about it, and it is not sensitive.",
  };
}
