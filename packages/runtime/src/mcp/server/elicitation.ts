import type { JsonObject, JsonValue, ToolAnswer, ToolQuestion } from "@keelson/protocol";
import { createJsonSchemaValidator, formatIssue } from "../../schema/index.ts";

/** A form as the protocol has it: an object of plain members. */
export interface ElicitedForm {
  readonly message: string;
  readonly requestedSchema: JsonObject & { readonly type: "object"; readonly properties: JsonObject };
}

/** The member that stands for an answer that is no object. */
const VALUE = "value";

/** @returns `undefined` for a question whose answer no form can hold: one with members in members */
export function formOf(question: ToolQuestion): ElicitedForm | undefined {
  const message = question.from === undefined ? question.message : `${question.from} asks: ${question.message}`;
  const { schema } = question;
  if (schema === undefined) return { message, requestedSchema: { type: "object", properties: {} } };
  if (schema["type"] !== "object")
    return isPlain(schema)
      ? { message, requestedSchema: { type: "object", properties: { [VALUE]: schema }, required: [VALUE] } }
      : undefined;
  const properties = (schema["properties"] ?? {}) as JsonObject;
  if (!Object.values(properties).every((member) => isPlain(member as JsonObject))) return undefined;
  const required = schema["required"];
  return { message, requestedSchema: { type: "object", properties, ...(required !== undefined && { required }) } };
}

/** What a form may ask for: a text, a number, a yes or no, one or some of a list. */
function isPlain(schema: JsonObject): boolean {
  const type = schema["type"];
  if (type === "array") {
    const items = schema["items"] as JsonObject | undefined;
    return items?.["enum"] !== undefined || items?.["anyOf"] !== undefined;
  }
  return type === "string" || type === "number" || type === "integer" || type === "boolean";
}

/** What came back for a form or a page. `undefined`: it is no answer to it, and the question stands. */
export async function answerOf(question: ToolQuestion, response: unknown): Promise<ToolAnswer | undefined> {
  if (typeof response !== "object" || response === null) return undefined;
  const { action, content } = response as { readonly action?: unknown; readonly content?: unknown };
  if (action === "decline") return { type: "declined" };
  if (action === "cancel") return { type: "cancelled", reason: "The person at the client closed the question." };
  if (action !== "accept") return undefined;
  const { schema } = question;
  if (question.url !== undefined || schema === undefined) return { type: "provided", value: true };
  const given = (content ?? {}) as JsonObject;
  const value = (schema["type"] === "object" ? given : given[VALUE]) as JsonValue | undefined;
  return value !== undefined && (await problemWith(schema, value)) === undefined ? { type: "provided", value } : undefined;
}

/** What an answer lacks, in words. */
export async function problemWith(schema: JsonObject, value: JsonValue): Promise<string | undefined> {
  const issues = await createJsonSchemaValidator(schema)(value);
  return issues.length === 0 ? undefined : issues.slice(0, 5).map(formatIssue).join("; ");
}
