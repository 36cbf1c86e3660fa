import type { InferEvent, InferRequest, JsonObject, ProviderData, ToolChoice } from "@keelson/protocol";
import { normalSchema } from "../../schema/normal-schema.ts";
import { RENAMED_KEYS } from "./fit-message.ts";
import { fitName } from "./fit-name.ts";
import { fitSchemaOnce, type FittedTools, fitTools } from "./fit-tools.ts";
import { renameKeysInText } from "./rename-keys.ts";
import { wellFormed } from "./well-formed.ts";
import type { SchemaRules, WireRules } from "./wire-rules.ts";

export interface FittedRequest {
  /** Everything but the messages is as the vendor accepts it; the encoder fits those one by one (`fitMessage`). */
  readonly request: InferRequest;
  /** Gives calls the names and property keys that the tools were offered with. */
  restore(events: AsyncIterable<InferEvent>): AsyncIterable<InferEvent>;
}

/** A request as a vendor accepts it. Tools that cannot be made fit are left out: `unfitTools` of the provider names them. */
export function fitToWire(request: InferRequest, rules: WireRules, wire: string): FittedRequest {
  const { system, tools, toolChoice, output, extra, stopSequences } = request;
  const fitted = tools === undefined ? undefined : fitTools(tools, rules);
  const changed: { -readonly [M in keyof InferRequest]?: InferRequest[M] } = {};
  if (system?.isWellFormed() === false) changed.system = system.toWellFormed();
  if (fitted !== undefined && fitted.tools !== tools) changed.tools = fitted.tools;
  if (typeof toolChoice === "object") changed.toolChoice = fitChoice(toolChoice, rules);
  if (output !== undefined) changed.output = fitOutput(output, rules);
  if (stopSequences?.some((text) => !text.isWellFormed()) === true)
    changed.stopSequences = stopSequences.map((text) => text.toWellFormed());
  if (extra !== undefined) changed.extra = wellFormed(extra);
  const isRestored = fitted !== undefined && (fitted.originalNames.size > 0 || fitted.originalKeys.size > 0);
  return {
    request: Object.keys(changed).length === 0 ? request : { ...request, ...changed },
    restore: (events) => (isRestored ? restored(events, fitted, wire) : events),
  };
}

function fitChoice(choice: Exclude<ToolChoice, string>, rules: WireRules): ToolChoice {
  const name = fitName(choice.name, rules.names);
  return name === choice.name ? choice : { name };
}

const outputRules = new WeakMap<SchemaRules, SchemaRules>();

/** Output is JSON text of its own: its keys stay, since they are read as they come. */
function fitOutput(output: NonNullable<InferRequest["output"]>, rules: WireRules): NonNullable<InferRequest["output"]> {
  let own = outputRules.get(rules.schemas);
  if (own === undefined) {
    const { keys: _, ...schemas } = rules.schemas;
    outputRules.set(rules.schemas, (own = schemas));
  }
  const name = fitName(output.name, rules.names);
  const fitted = fitSchemaOnce(output.schema, own);
  const schema = wellFormed("problem" in fitted ? normalOr(output.schema) : withNotes(fitted.schema, fitted.notes));
  return name === output.name && schema === output.schema ? output : { name, schema };
}

/** A schema of no object, or a broken one, is the vendor's to judge: there is nothing to leave out. */
function normalOr(schema: JsonObject): JsonObject {
  try {
    return normalSchema(schema);
  } catch {
    return schema;
  }
}

function withNotes(schema: JsonObject, notes: readonly string[]): JsonObject {
  if (notes.length === 0) return schema;
  const { description } = schema;
  return { ...schema, description: [...(typeof description === "string" ? [description] : []), ...notes].join("\n") };
}

/** Arguments with renamed keys come in one piece: a key may be cut anywhere. */
async function* restored(
  events: AsyncIterable<InferEvent>,
  { originalNames, originalKeys }: FittedTools,
  wire: string,
): AsyncGenerator<InferEvent> {
  const open = new Map<number, { readonly keys: ReadonlyMap<string, string>; text: string }>();
  for await (const event of events) {
    if (event.type === "tool-call-start") {
      const keys = originalKeys.get(event.name);
      if (keys !== undefined && event.custom !== true) open.set(event.index, { keys, text: "" });
      yield { ...event, name: originalNames.get(event.name) ?? event.name };
      continue;
    }
    if (event.type === "end")
      // Calls that were cut off.
      for (const [index, { text }] of open) if (text !== "") yield { type: "tool-call-delta", index, text };
    const call = event.type === "tool-call-delta" || event.type === "tool-call-end" ? open.get(event.index) : undefined;
    if (call === undefined) yield event;
    else if (event.type === "tool-call-delta") call.text += event.text;
    else if (event.type === "tool-call-end") {
      open.delete(event.index);
      const text = renameKeysInText(call.text, call.keys);
      if (text !== "") yield { type: "tool-call-delta", index: event.index, text };
      yield text === call.text ? event : { ...event, providerData: withKeys(event.providerData, call.keys, wire) };
    }
  }
}

function withKeys(data: ProviderData | undefined, keys: ReadonlyMap<string, string>, wire: string): ProviderData {
  return { ...(data ?? { wire }), [RENAMED_KEYS]: Object.fromEntries(keys) };
}
