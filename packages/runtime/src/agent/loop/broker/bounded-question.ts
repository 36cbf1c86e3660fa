import { ToolError, type AskedQuestion, type JsonObject, type ToolQuestion } from "@keelson/protocol";
import { truncateText } from "../../../json/truncate-text.ts";
import { createJsonSchemaValidator } from "../../../schema/index.ts";
import { pageUrl } from "../../../tools/page-url.ts";
import { sourceLine } from "../../../session/untrusted-sources.ts";

/** UTF-8 bytes of a message: more than that nobody reads before they answer. */
const MAX_MESSAGE_BYTES = 8 * 1024;
const MAX_SCHEMA_BYTES = 32 * 1024;

/**
 * What a tool asks, as far as it can be shown to a person; or in words why it can't be asked at all.
 * @throws ToolError of kind `invalid-input` for what is no question: a mistake of whoever wrote the tool
 */
export function boundedQuestion(tool: string, question: ToolQuestion): AskedQuestion | string {
  const { message, from, schema, url } = question;
  if (typeof message !== "string" || message.trim() === "") {
    const said = `${tool} asked something without a message. Call ask({ message: "Which account?" }), with text for a person.`;
    throw new ToolError({ kind: "invalid-input", tool, issues: ["message is missing"], message: said });
  }
  const asked = { message: truncateText(message, MAX_MESSAGE_BYTES).text, ...(from !== undefined && { from: sourceLine(from) }) };
  if (url !== undefined) {
    const page = pageUrl(url);
    return "problem" in page ? page.problem : { ...asked, url: page.url };
  }
  if (schema === undefined) return asked;
  const plain = JSON.stringify(schema);
  if (Buffer.byteLength(plain) > MAX_SCHEMA_BYTES) return `the schema of the answer is larger than ${MAX_SCHEMA_BYTES} bytes`;
  const copy = JSON.parse(plain) as JsonObject;
  try {
    createJsonSchemaValidator(copy);
  } catch (error) {
    return `the schema of the answer can't be used: ${error instanceof Error ? error.message : String(error)}`;
  }
  return { ...asked, schema: copy };
}
