import { checkImageUrl } from "./check-image.ts";
import { OPENAI_IMAGES, OPENAI_SCHEMA } from "./openai-chat.ts";
import { checkToolSchema } from "./tool-schema.ts";
import { type Fields, RequestCheck, type RequestFacts, type RequestProblem } from "./request-check.ts";

const MAX_CALL_ID = 64;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const CHOICES = ["none", "auto", "required"];
/** Items the vendor makes: their id says what they are. */
const ID_PREFIXES: { readonly [type: string]: string } = { function_call: "fc", custom_tool_call: "ctc", message: "msg", reasoning: "rs" };

/** What OpenAI's Responses API would refuse in a request. */
export function validateResponsesRequest(body: unknown, facts: RequestFacts = {}): readonly RequestProblem[] {
  const check = new RequestCheck();
  const request = check.object(body, "");
  if (request === undefined) return check.problems;
  check.filled(request["model"], "model");
  check.number(request["max_output_tokens"], "max_output_tokens", { from: 1, whole: true });
  check.number(request["temperature"], "temperature", { from: 0, to: 2 });
  check.number(request["top_p"], "top_p", { from: 0, to: 1 });
  check.flag(request["stream"], "stream");
  check.flag(request["store"], "store");
  if (request["instructions"] !== undefined && request["instructions"] !== null) check.string(request["instructions"], "instructions");
  if (request["messages"] !== undefined) check.fail("messages", "is a field of another API: use input");
  const tools = checkTools(check, request["tools"]);
  checkToolChoice(check, request["tool_choice"], tools);
  checkFormat(check, request["text"]);
  checkInput(check, request, facts.stored ?? request["store"] !== false);
  return check.problems;
}

function checkTools(check: RequestCheck, value: unknown): ReadonlySet<string> | undefined {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return undefined;
  const names: string[] = [];
  for (const [at, entry] of (check.list(value, "tools") ?? []).entries()) {
    const path = `tools[${at}]`;
    const tool = check.object(entry, path);
    const type = tool && check.filled(tool["type"], `${path}.type`);
    if (tool === undefined || (type !== "function" && type !== "custom")) continue;
    const name = check.matching(tool["name"], `${path}.name`, NAME);
    if (name !== undefined) names.push(name);
    if (type === "function" && tool["parameters"] !== undefined && tool["parameters"] !== null)
      checkToolSchema(check, tool["parameters"], `${path}.parameters`, OPENAI_SCHEMA);
  }
  check.unique(names, "tools", "the name");
  return new Set(names);
}

function checkToolChoice(check: RequestCheck, choice: unknown, tools: ReadonlySet<string> | undefined): void {
  if (choice === undefined || choice === null) return;
  if (typeof choice === "string") {
    check.oneOf(choice, "tool_choice", CHOICES);
    if (choice === "required" && tools === undefined) check.fail("tool_choice", "may only be required with tools");
    return;
  }
  const fields = check.object(choice, "tool_choice");
  const type = fields && check.filled(fields["type"], "tool_choice.type");
  if (fields === undefined || (type !== "function" && type !== "custom")) return;
  const name = check.filled(fields["name"], "tool_choice.name");
  if (name !== undefined && tools?.has(name) !== true) check.fail("tool_choice", `there is no tool ${JSON.stringify(name)}`);
}

function checkFormat(check: RequestCheck, value: unknown): void {
  const format = value === undefined || value === null ? undefined : check.object(value, "text")?.["format"];
  if (format === undefined || format === null) return;
  const fields = check.object(format, "text.format");
  const type = check.oneOf(fields?.["type"], "text.format.type", ["text", "json_object", "json_schema"]);
  if (type !== "json_schema") return;
  check.matching(fields?.["name"], "text.format.name", /^[a-zA-Z0-9_-]{1,64}$/);
  check.object(fields?.["schema"], "text.format.schema");
}

function checkInput(check: RequestCheck, request: Fields, stored: boolean): void {
  const { input } = request;
  const continued = request["previous_response_id"] ?? request["conversation"] ?? request["prompt"];
  if (input === undefined && continued !== undefined) return;
  if (typeof input === "string") {
    check.filled(input, "input");
    return;
  }
  const items = check.list(input, "input");
  if (items === undefined) return;
  const elsewhere = continued !== undefined && continued !== null;
  const open = new Map<string, string>();
  const called = new Set<string>();
  let reasoning: string | undefined;
  for (const [at, value] of items.entries()) {
    const path = `input[${at}]`;
    const item = check.object(value, path);
    if (item === undefined) continue;
    const type = item["type"] ?? (item["role"] === undefined ? undefined : "message");
    if (typeof type !== "string") {
      check.fail(`${path}.type`, "is required");
      continue;
    }
    checkId(check, item, type, path);
    const ofModel = type !== "message" || item["role"] === "assistant";
    if (reasoning !== undefined && (!ofModel || /_output$/.test(type)))
      check.fail(reasoning, "the reasoning lacks the item that followed it");
    reasoning = type === "reasoning" ? path : undefined;
    if (type === "function_call" || type === "custom_tool_call") {
      const id = checkCall(check, item, type, path);
      if (id === undefined) continue;
      if (called.has(id)) check.fail(`${path}.call_id`, `the call id ${JSON.stringify(id)} is not unique`);
      called.add(id);
      open.set(id, type);
    } else if (type === "function_call_output" || type === "custom_tool_call_output") {
      checkOutput(check, item["output"], `${path}.output`);
      const id = check.filled(item["call_id"], `${path}.call_id`);
      if (id === undefined) continue;
      if (open.get(id) === type.slice(0, -"_output".length)) open.delete(id);
      else if (called.has(id)) check.fail(path, `the call ${id} has two results, or one of another kind`);
      else if (!elsewhere) check.fail(path, `there is no call ${id} before its output`);
      called.add(id);
    } else checkItem(check, item, type, path, stored);
  }
  if (reasoning !== undefined) check.fail(reasoning, "the reasoning lacks the item that followed it");
  if (open.size > 0) check.fail("input", `the calls ${[...open.keys()].join(", ")} have no outputs`);
}

function checkId(check: RequestCheck, item: Fields, type: string, path: string): void {
  const prefix = Object.hasOwn(ID_PREFIXES, type) ? ID_PREFIXES[type] : undefined;
  const { id } = item;
  if (prefix === undefined || id === undefined || id === null) return;
  // Copilot's ids are opaque.
  const own = /^(?:fc|ctc|msg|rs|resp|call|toolu)(?=_)/.exec(check.filled(id, `${path}.id`) ?? "")?.[0];
  if (own !== undefined && own !== prefix) check.fail(`${path}.id`, `must begin with ${prefix}`);
}

function checkCall(check: RequestCheck, item: Fields, type: string, path: string): string | undefined {
  check.matching(item["name"], `${path}.name`, NAME);
  check.string(type === "function_call" ? item["arguments"] : item["input"], `${path}.${type === "function_call" ? "arguments" : "input"}`);
  const id = check.filled(item["call_id"], `${path}.call_id`);
  if (id !== undefined && id.length > MAX_CALL_ID) check.fail(`${path}.call_id`, `is longer than ${MAX_CALL_ID} characters`);
  return id;
}

function checkOutput(check: RequestCheck, output: unknown, path: string): void {
  if (typeof output === "string") return;
  for (const [at, value] of (check.list(output, path) ?? []).entries()) checkPart(check, value, `${path}[${at}]`, INPUT_PARTS);
}

function checkItem(check: RequestCheck, item: Fields, type: string, path: string, stored: boolean): void {
  if (type === "message") {
    const role = check.oneOf(item["role"], `${path}.role`, ["user", "assistant", "system", "developer"]);
    const { content } = item;
    if (typeof content === "string" || role === undefined) return;
    for (const [at, part] of (check.list(content, `${path}.content`) ?? []).entries())
      checkPart(check, part, `${path}.content[${at}]`, role === "assistant" ? OUTPUT_PARTS : INPUT_PARTS);
  } else if (type === "reasoning") {
    if (!Array.isArray(item["summary"])) check.fail(`${path}.summary`, "is required");
    const encrypted = item["encrypted_content"];
    if (encrypted !== undefined && encrypted !== null) check.filled(encrypted, `${path}.encrypted_content`);
    else if (!stored || item["id"] === undefined) check.fail(path, "reasoning that is not stored must bring its encrypted_content");
  } else if (type === "item_reference") check.filled(item["id"], `${path}.id`);
}

const INPUT_PARTS: ReadonlySet<string> = new Set(["input_text", "input_image", "input_file", "input_audio"]);
const OUTPUT_PARTS: ReadonlySet<string> = new Set(["output_text", "refusal"]);

function checkPart(check: RequestCheck, value: unknown, path: string, types: ReadonlySet<string>): void {
  const part = check.object(value, path);
  const type = part && check.filled(part["type"], `${path}.type`);
  if (part === undefined || type === undefined) return;
  if (!types.has(type)) {
    check.fail(`${path}.type`, `${type} may not stand here`);
    return;
  }
  if (type === "input_text" || type === "output_text") check.string(part["text"], `${path}.text`);
  if (type === "refusal") check.string(part["refusal"], `${path}.refusal`);
  if (type === "input_image" && part["file_id"] === undefined) check.matching(part["image_url"], `${path}.image_url`, /^(?:https?:|data:)/);
  if (type === "input_image") checkImageUrl(check, part["image_url"], `${path}.image_url`, OPENAI_IMAGES);
  if (type === "input_file" && part["file_id"] === undefined && part["file_url"] === undefined) {
    check.filled(part["file_data"], `${path}.file_data`);
    check.filled(part["filename"], `${path}.filename`);
  }
}
