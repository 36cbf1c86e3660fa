import { AgentError } from "@keelson/protocol";
import type { ToolSet } from "../../../tools/tool-registry.ts";
import { compileSchema } from "../../../schema/compile-schema.ts";
import type { JsonSchema, Schema } from "../../../schema/schema.ts";
import type { AgentOptions } from "../agent.ts";
import { compileOutputForm, type OutputForm } from "./output-form.ts";

type Options = Pick<AgentOptions<never>, "name" | "outputMode" | "settings">;
type Output = Schema<unknown> | JsonSchema | undefined;

/** What of the output belongs to a definition's digest. */
export function outputDigest({ outputMode }: Options, output: Output): { readonly [option: string]: unknown } {
  if (output === undefined) return {};
  const custom = typeof outputMode === "object" && outputMode.type === "custom";
  return { output: compileSchema(output).jsonSchema, outputMode: custom ? `function ${outputMode.extract.name}` : outputMode };
}

/**
 * Checks and compiles what an agent says of its structured output.
 * @returns how it is asked for and read; nothing for an agent without `output`
 * @throws AgentError of kind `invalid-option`
 */
export function checkOutput(options: Options, output: Output, tools: ToolSet): OutputForm | undefined {
  const { name, outputMode, settings } = options;
  if (output === undefined) {
    checkToolChoice(settings, tools);
    if (outputMode !== undefined)
      throw invalid("outputMode", 'outputMode says how an output is given, but there is none: add "output", its schema');
    return undefined;
  }
  checkMode(outputMode);
  const form = compile(name, output, outputMode);
  checkToolChoice(settings, tools, form);
  if (form.tool === undefined) return form;
  const wanted = form.tool.name.toLowerCase();
  const taken = [...tools].find((tool) => [tool.name, ...tool.aliases].some((own) => own.toLowerCase() === wanted));
  if (taken !== undefined)
    throw invalid(
      "outputMode",
      `outputMode "tool" takes the output by a tool named "${form.tool.name}", which the agent's tool "${taken.name}" is called already: give another name, as in { type: "tool", name: "give_answer" }`,
    );
  if (settings?.toolChoice === "none")
    throw invalid(
      "settings.toolChoice",
      'settings.toolChoice is "none", but outputMode "tool" takes the answer by a call: drop one of them',
    );
  return form;
}

function checkToolChoice(settings: Options["settings"], tools: ToolSet, form?: OutputForm): void {
  const choice = settings?.toolChoice;
  if (typeof choice !== "object" || choice.name === form?.tool?.name || tools.find(choice.name).ok) return;
  throw invalid(
    "settings.toolChoice",
    `settings.toolChoice names the tool ${JSON.stringify(choice.name)}, which is none of the agent's: there are ${[...tools].map(({ name }) => name).join(", ")}`,
  );
}

function checkMode(mode: unknown): void {
  if (mode === undefined || mode === "tool" || mode === "native" || mode === "prompt") return;
  const { type, name, description, extract } = (typeof mode === "object" && mode !== null ? mode : {}) as {
    readonly [field: string]: unknown;
  };
  if (type === "custom") {
    if (typeof extract !== "function")
      throw invalid("outputMode.extract", "outputMode.extract must be a function that gives the output of a text");
  } else if (type === "tool") {
    if (name !== undefined && (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name)))
      throw invalid("outputMode.name", `outputMode.name must be 1 to 64 letters, digits, "_" or "-", not ${JSON.stringify(name)}`);
    if (description !== undefined && typeof description !== "string")
      throw invalid("outputMode.description", "outputMode.description must be a text");
  } else {
    throw invalid(
      "outputMode",
      `outputMode must be "tool", "native", "prompt", { type: "tool", name } or { type: "custom", extract }, not ${JSON.stringify(mode)}`,
    );
  }
}

function compile(name: string, output: NonNullable<Output>, outputMode: Options["outputMode"]): OutputForm {
  try {
    return compileOutputForm(name, output, outputMode);
  } catch (cause) {
    throw invalid(
      "output",
      `output must be a schema: a Standard Schema that can describe itself (Zod 4, ArkType), { schema, jsonSchema }, or a JSON Schema. ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    );
  }
}

function invalid(option: string, message: string, cause?: unknown): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${message}.` }, cause === undefined ? {} : { cause });
}
