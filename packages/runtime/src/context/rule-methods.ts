import type { JsonValue, Message } from "@keelson/protocol";
import { AgentError, textMessage } from "@keelson/protocol";
import { checkOptionNames, type OptionNames } from "../json/option-names.ts";
import type { ContextMetrics, OperationType, Rule } from "./rule.ts";

/** A call that did not run because the user steered away from it. */
export type SkippedCall = { readonly callId: string; readonly name: string };

/** What became of a tool call, as the model is told. */
export type CallResult = { readonly output: JsonValue; readonly isError: boolean };

/** What a rule wants; nothing is `continue`. */
type Verdict = ReturnType<Rule["run"]>;
export type LoopView = ContextMetrics;

/** The method form of a rule: name the moments it cares for. Each method is one rule on a built-in operation. */
export interface RuleMethods {
  readonly name: string;
  readonly priority?: number;
  beforeInference?(view: LoopView): Verdict;
  afterInference?(response: JsonValue, view: LoopView): Verdict;
  beforeToolCall?(tool: string, input: JsonValue, view: LoopView): Verdict;
  /** To change the result, `modify-output` with another of the same shape, or with an output alone, which counts as a success. */
  afterToolCall?(tool: string, result: CallResult, view: LoopView): Verdict;
  whenExitCheck?(view: LoopView): Verdict;
  beforeSteeringInject?(messages: readonly Message[], view: LoopView): Verdict;
  whenSteeringSkip?(skipped: readonly SkippedCall[], view: LoopView): void | Promise<void>;
  beforeCompaction?(view: LoopView): Verdict;
  afterCompaction?(view: LoopView): void | Promise<void>;
}

const METHODS: OptionNames<RuleMethods> = {
  name: true,
  priority: true,
  beforeInference: true,
  afterInference: true,
  beforeToolCall: true,
  afterToolCall: true,
  whenExitCheck: true,
  beforeSteeringInject: true,
  whenSteeringSkip: true,
  beforeCompaction: true,
  afterCompaction: true,
};

function checkMethods(methods: RuleMethods): void {
  checkOptionNames("rulesFrom", methods, METHODS);
  const { name, priority = 0, ...moments } = methods;
  const refuse = (option: string, what: string): never => {
    throw new AgentError({ kind: "invalid-option", option, message: `${option} of rulesFrom must be ${what}.` });
  };
  if (typeof name !== "string" || name === "") refuse("name", "a text that names the rule");
  if (typeof priority !== "number" || Number.isNaN(priority)) refuse("priority", "a number");
  for (const [moment, method] of Object.entries(moments))
    if (method !== undefined && typeof method !== "function") refuse(moment, "a function");
}

/** Turns the method form into rules of the struct form, on the same pipeline. */
export function rulesFrom(methods: RuleMethods): readonly Rule[] {
  checkMethods(methods);
  const rules: Rule[] = [];
  const add = (type: "before" | "after", operation: OperationType, run: Rule["run"]) =>
    rules.push({ name: `${methods.name}.${type}-${operation}`, trigger: { type, operation }, priority: methods.priority ?? 0, run });

  if (methods.beforeInference) add("before", "infer", async ({ context }) => methods.beforeInference?.(context.metrics));
  if (methods.afterInference)
    add("after", "infer", async ({ context, output }) => methods.afterInference?.(output ?? null, context.metrics));
  if (methods.beforeToolCall) {
    add("before", "execute-tool", async ({ context, input }) => {
      const call = toolCallOf(input);
      const action = await methods.beforeToolCall?.(call.name, call.input, context.metrics);
      return action?.type === "modify-input" ? { type: "modify-input", input: { name: call.name, input: action.input } } : action;
    });
  }
  if (methods.afterToolCall)
    add("after", "execute-tool", async ({ context, input, output }) =>
      methods.afterToolCall?.(toolCallOf(input).name, output as CallResult, context.metrics),
    );
  if (methods.whenExitCheck) add("before", "exit-check", async ({ context }) => methods.whenExitCheck?.(context.metrics));
  if (methods.beforeSteeringInject)
    add("before", "inject-steering", async ({ context, input }) => methods.beforeSteeringInject?.(messagesOf(input), context.metrics));
  if (methods.whenSteeringSkip)
    add("after", "steering-skip", async ({ context, input }) =>
      methods.whenSteeringSkip?.((input as { readonly calls: readonly SkippedCall[] }).calls, context.metrics),
    );
  if (methods.beforeCompaction) add("before", "compact", async ({ context }) => methods.beforeCompaction?.(context.metrics));
  if (methods.afterCompaction) add("after", "compact", async ({ context }) => methods.afterCompaction?.(context.metrics));
  return rules;
}

/** A rule that reminds the model after each response, before the next inference or tool dispatch. */
export function injectReminder(text: string, options: { readonly priority?: number | undefined } = {}): Rule {
  checkOptionNames("injectReminder", options, { priority: true });
  return {
    name: "inject-reminder",
    trigger: { type: "after", operation: "append-response" },
    priority: options.priority ?? 50,
    run: ({ context }) => context.injectMessage(textMessage("system", text)),
  };
}

function toolCallOf(input: JsonValue | undefined): { readonly name: string; readonly input: JsonValue } {
  const call = input as { readonly name: string; readonly input?: JsonValue };
  return { name: call.name, input: call.input ?? null };
}

function messagesOf(input: JsonValue | undefined): readonly Message[] {
  return (input as { readonly messages: readonly Message[] } | undefined)?.messages ?? [];
}
