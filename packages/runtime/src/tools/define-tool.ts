import {
  type JsonObject,
  type JsonValue,
  type NeedsContext,
  type RiskLevel,
  type Tool,
  type ToolCall,
  ToolError,
  type ToolEffect,
  type ToolOutput,
} from "@keelson/protocol";
import { type CompiledSchema, compileSchema, type JsonSchema, type Schema } from "../schema/index.ts";
import { canonicalJson, shortHash } from "../json/index.ts";
import { bindApproval } from "./bind-approval.ts";
import { checkToolFields } from "./check-tool-fields.ts";
import { objectSchema } from "./object-schema.ts";
import { settleResult } from "./streamed-result.ts";
import { DEFAULT_MAX_OUTPUT_BYTES, type MaybeLater, type NeedsApproval, type ToolDefinition, type ToolFields } from "./tool-definition.ts";
import { checkDefinitionNames } from "../json/check-definition-names.ts";
import type { OptionNames } from "../json/option-names.ts";

const TOOL_OPTIONS: OptionNames<ToolDefinition> = {
  name: true,
  description: true,
  effect: true,
  concurrency: true,
  risk: true,
  version: true,
  aliases: true,
  maxOutputBytes: true,
  category: true,
  timeoutMs: true,
  input: true,
  output: true,
  execute: true,
  reconcile: true,
  permissionText: true,
  effectsOf: true,
  untrusted: true,
  needsApproval: true,
  redirect: true,
};

/** Makes tools of functions. */
export interface DefineTool {
  /**
   * Makes a tool of a function. The type of its input follows from the schema: Zod 4 and ArkType schemas as they are,
   * `{ schema, jsonSchema }` for other Standard Schemas, or a plain JSON Schema (the input is then a `JsonObject`).
   *
   * ```ts
   * const readFile = defineTool({
   *   name: "read_file",
   *   description: "Read a text file of the project.",
   *   effect: "read",
   *   input: z.object({ path: z.string() }),
   *   execute: ({ path }, { files, signal }) => …,
   * });
   * ```
   * @throws ToolError of kind `invalid-definition`, which names the option that is wrong
   */
  <In = JsonObject, Result = MaybeLater<ToolOutput | void>, Found = JsonValue>(
    definition: ToolDefinition<In, Result, Found>,
  ): Tool<NoInfer<In>>;
  /**
   * Makes tools that need a value of the program: a connection, the person who is signed in, a workspace. Their calls find it as `call.context`. The runner
   * of the agent makes it: `createRunner({ agent, context })`. An agent with such tools does not compile, and does not start, without it.
   *
   * ```ts
   * const listOrders = defineTool.for<{ readonly db: Database }>()({
   *   name: "list_orders",
   *   description: "List the orders of the customer.",
   *   effect: "read",
   *   input: z.object({}),
   *   execute: (_, { context, metadata }) => context.db.orders(metadata.customer),
   * });
   * ```
   */
  for<Context>(): <In = JsonObject, Result = MaybeLater<ToolOutput | void>, Found = JsonValue>(
    definition: ToolDefinition<In, Result, Found, Context>,
  ) => Tool<NoInfer<In>, Context>;
}

export const defineTool: DefineTool = /*#__PURE__*/ Object.assign(defineAnyTool, {
  for: () => defineContextTool,
}) as unknown as DefineTool;

function defineContextTool(definition: ToolDefinition<never>): Tool<never, never> {
  const tool = defineAnyTool(definition);
  const { reconcile } = tool;
  return {
    ...tool,
    needsContext: true as NeedsContext<never>,
    async execute(input, call) {
      checkContext(tool.name, call);
      return tool.execute(input, call);
    },
    ...(reconcile && {
      async reconcile(input, call) {
        checkContext(tool.name, call);
        return reconcile(input, call);
      },
    }),
  };
}

function checkContext(tool: string, { context }: ToolCall): void {
  if (context !== undefined) return;
  const message = `The tool "${tool}" was called without its context. Give one: createRunner({ context }), reactLoop({ toolContext }), or createToolCall({ context }) in a test.`;
  throw new ToolError({ kind: "execution-failed", tool, message });
}

function defineAnyTool(definition: ToolDefinition<never>): Tool<never> {
  checkDefinitionNames<ToolDefinition<never>>("defineTool", definition, TOOL_OPTIONS);
  const { input, output, execute, reconcile, permissionText, effectsOf, untrusted, needsApproval, timeoutMs, redirect } =
    definition as ToolDefinition<unknown>;
  if (typeof execute !== "function") throw invalid(definition.name, "`execute` must be a function");
  const says = sayUntrusted(definition.name, untrusted);
  const approval = checkedApproval(definition, needsApproval);
  const fields = completeFields(definition, input, output);
  return {
    ...fields.tool,
    ...(timeoutMs !== undefined && { timeoutMs: checkTimeout(definition.name, timeoutMs) }),
    // Bound to the definition, so that `this` works as its author wrote it.
    ...(permissionText !== undefined && { permissionText: permissionText.bind(definition) }),
    ...(effectsOf !== undefined && { effectsOf: effectsOf.bind(definition) as NonNullable<Tool["effectsOf"]> }),
    ...(says !== undefined && { untrusted: says.bind(definition) }),
    ...(approval !== undefined && { needsApproval: approval }),
    ...(redirect !== undefined && { redirect: redirect.bind(definition) }),
    parse: fields.input.validate as Tool<never>["parse"],
    execute: (given, call) => settleResult(execute.call(definition, given, call), call) as ToolOutput,
    ...(reconcile !== undefined && { reconcile: reconcile.bind(definition) }),
  };
}

/** What is left out or `false` says that its text is as good as the program's own. */
function sayUntrusted(name: string, untrusted: ToolDefinition<unknown>["untrusted"]): Tool["untrusted"] {
  if (untrusted === undefined || untrusted === false) return undefined;
  if (untrusted === true) return () => true;
  if (typeof untrusted !== "function") throw invalid(name, "`untrusted` must be true, false or a function of the arguments");
  return untrusted;
}

/** @returns `undefined` if no call of the tool needs an approval */
export function checkedApproval(definition: { readonly name: string }, needsApproval: NeedsApproval<never>): Tool["needsApproval"] {
  if (needsApproval === undefined || needsApproval === false) return undefined;
  if (needsApproval !== true && typeof needsApproval !== "function")
    throw invalid(definition.name, "`needsApproval` must be true, false or a function of the arguments");
  return bindApproval(definition, needsApproval as NonNullable<Tool["needsApproval"]>);
}

type DataFields = Omit<
  Tool,
  "parse" | "execute" | "reconcile" | "permissionText" | "effectsOf" | "untrusted" | "needsApproval" | "timeoutMs" | "redirect"
>;

/** Fills in the defaults of what any tool, leaf or dispatch, says about itself. */
export function completeFields(
  definition: ToolFields,
  input: Schema<unknown> | JsonSchema,
  output?: Schema<unknown> | JsonSchema,
): { readonly tool: DataFields; readonly input: CompiledSchema<unknown> } {
  const { name, description, effect = "write", aliases = [], category } = definition;
  checkToolFields(definition);
  const compiled = compileOption(name, "input", () => objectSchema(input));
  const outputSchema = output === undefined ? undefined : compileOption(name, "output", () => compileSchema(output, "output").jsonSchema);
  const tool: DataFields = {
    name,
    description,
    inputSchema: compiled.jsonSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    effect,
    concurrency: definition.concurrency ?? (effect === "read" ? "shared" : "exclusive"),
    risk: definition.risk ?? RISK_OF_EFFECT[effect],
    version: definition.version ?? shortHash(canonicalJson([name, description, compiled.jsonSchema, outputSchema ?? null])),
    aliases: [...aliases],
    maxOutputBytes: definition.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
    ...(category !== undefined && { category }),
  };
  return { tool, input: compiled };
}

const RISK_OF_EFFECT: { readonly [E in ToolEffect]: RiskLevel } = { read: "none", idempotent: "low", write: "low" };

/** What a timer of the platform can wait for: a longer wait would fire at once. */
const MAX_TIMEOUT_MS = 2_147_483_647;

function checkTimeout(name: string, timeoutMs: number): number {
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0 || timeoutMs > MAX_TIMEOUT_MS)
    throw invalid(name, `\`timeoutMs\` must be over 0 and at most ${MAX_TIMEOUT_MS}, not ${String(timeoutMs)}`);
  return timeoutMs;
}

function compileOption<T>(name: string, option: string, compile: () => T): T {
  try {
    return compile();
  } catch (cause) {
    throw invalid(name, `\`${option}\` cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

function invalid(tool: string, problem: string, cause?: unknown): ToolError {
  return new ToolError({ kind: "invalid-definition", tool: String(tool), message: `Tool "${String(tool)}": ${problem}` }, { cause });
}
