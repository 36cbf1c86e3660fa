import { checkImageUrl } from "./check-image.ts";
import { checkToolSchema, type SchemaConditions } from "./tool-schema.ts";
import { type Fields, RequestCheck, type RequestFacts, type RequestProblem } from "./request-check.ts";

const ROLES = ["system", "developer", "user", "assistant", "tool", "function"];
const MAX_CALL_ID = 40;
/** "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'", of tools and of calls. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level". */
export const OPENAI_SCHEMA: SchemaConditions = {
  notAtTop: ["oneOf", "anyOf", "allOf", "enum", "not"],
  completeTypes: true,
  noLookaround: true,
};
export const OPENAI_IMAGES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const CHOICES = ["none", "auto", "required", "any"];

/** What OpenAI's Chat Completions, and servers that speak it, would refuse in a request. */
export function validateChatRequest(body: unknown, facts: RequestFacts = {}): readonly RequestProblem[] {
  const check = new RequestCheck();
  const request = check.object(body, "");
  if (request === undefined) return check.problems;
  // Azure has the model in the path.
  if (facts.model === undefined) check.filled(request["model"], "model");
  for (const field of ["max_tokens", "max_completion_tokens"]) check.number(request[field], field, { from: 1, whole: true });
  check.number(request["temperature"], "temperature", { from: 0, to: 2 });
  check.number(request["top_p"], "top_p", { from: 0, to: 1 });
  const streamed = check.flag(request["stream"], "stream");
  if (streamed !== true && request["stream_options"] !== undefined && request["stream_options"] !== null)
    check.fail("stream_options", "may only be given with stream");
  checkFormat(check, request["response_format"]);
  const tools = checkTools(check, request["tools"]);
  checkToolChoice(check, request["tool_choice"], tools);
  checkMessages(check, request["messages"], facts.vendor === undefined ? MAX_CALL_ID : Infinity);
  return check.problems;
}

function checkFormat(check: RequestCheck, value: unknown): void {
  if (value === undefined || value === null) return;
  const format = check.object(value, "response_format");
  const type = check.oneOf(format?.["type"], "response_format.type", ["text", "json_object", "json_schema"]);
  if (type !== "json_schema") return;
  const schema = check.object(format?.["json_schema"], "response_format.json_schema");
  if (schema === undefined) return;
  if (schema["name"] !== undefined) check.matching(schema["name"], "response_format.json_schema.name", /^[a-zA-Z0-9_-]{1,64}$/);
  check.object(schema["schema"], "response_format.json_schema.schema");
}

function checkTools(check: RequestCheck, value: unknown): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return undefined;
  const names: string[] = [];
  for (const [at, entry] of (check.list(value, "tools") ?? []).entries()) {
    const path = `tools[${at}]`;
    const tool = check.object(entry, path);
    if (tool === undefined) continue;
    const type = check.filled(tool["type"] ?? (tool["function"] === undefined ? undefined : "function"), `${path}.type`);
    if (type !== "function" && type !== "custom") continue;
    const named = check.object(tool[type], `${path}.${type}`);
    const name = named && check.matching(named["name"], `${path}.${type}.name`, NAME);
    if (name !== undefined) names.push(name);
    if (type === "function" && named?.["parameters"] !== undefined)
      checkToolSchema(check, named["parameters"], `${path}.function.parameters`, OPENAI_SCHEMA);
  }
  check.unique(names, "tools", "the name");
  return new Set(names);
}

function checkToolChoice(check: RequestCheck, choice: unknown, tools: ReadonlySet<string> | undefined): void {
  if (choice === undefined || choice === null) return;
  if (tools === undefined) check.fail("tool_choice", "may only be given with tools");
  if (typeof choice === "string") {
    check.oneOf(choice, "tool_choice", CHOICES);
    return;
  }
  const fields = check.object(choice, "tool_choice");
  const type = fields && check.filled(fields["type"], "tool_choice.type");
  if (fields === undefined || (type !== "function" && type !== "custom")) return;
  const name = check.filled(check.object(fields[type], `tool_choice.${type}`)?.["name"], `tool_choice.${type}.name`);
  if (name !== undefined && tools !== undefined && !tools.has(name)) check.fail("tool_choice", `there is no tool ${JSON.stringify(name)}`);
}

function checkMessages(check: RequestCheck, value: unknown, maxCallId: number): void {
  const messages = check.list(value, "messages");
  if (messages === undefined) return;
  let open = new Set<string>();
  let finished = new Set<string>();
  let functionCall: string | undefined;
  let caller = "";
  const close = (path: string): void => {
    if (open.size > 0) check.fail(path, `the calls ${[...open].join(", ")} of ${caller} have no results right after them`);
    if (functionCall !== undefined) check.fail(path, `the call of ${functionCall} has no result right after it`);
    functionCall = undefined;
    open = new Set();
  };
  for (const [at, entry] of messages.entries()) {
    const path = `messages[${at}]`;
    const message = check.object(entry, path);
    const role = message && check.oneOf(message["role"], `${path}.role`, ROLES);
    if (message === undefined || role === undefined) continue;
    if (role === "tool") {
      const id = check.filled(message["tool_call_id"], `${path}.tool_call_id`);
      if (id !== undefined && finished.has(id)) check.fail(path, `the call ${id} has two results`);
      else if (id !== undefined && !open.delete(id)) check.fail(path, `answers ${id}, but no call before it has this id`);
      if (id !== undefined) finished.add(id);
      checkContent(check, message["content"], `${path}.content`, TEXT_PARTS);
      continue;
    }
    if (role === "function") {
      const name = check.filled(message["name"], `${path}.name`);
      if (name !== functionCall) check.fail(path, `answers a call of ${String(name)}, which was not made`);
      functionCall = undefined;
      check.string(message["content"], `${path}.content`);
      continue;
    }
    close(path);
    finished = new Set();
    if (role !== "assistant") {
      checkContent(check, message["content"], `${path}.content`, role === "user" ? USER_PARTS : TEXT_PARTS);
      if (message["tool_calls"] !== undefined && message["tool_calls"] !== null)
        check.fail(`${path}.tool_calls`, `a message of the ${role} calls nothing`);
      continue;
    }
    caller = path;
    open = checkCalls(check, message, path, maxCallId);
    functionCall = checkFunctionCall(check, message, path);
    const { content } = message;
    const other = open.size > 0 || functionCall !== undefined || isFilled(message["refusal"]) || message["audio"] !== undefined;
    if (content === undefined || content === null || (other && Array.isArray(content) && content.length === 0)) {
      if (!other) check.fail(`${path}.content`, "must be given where nothing is called");
    } else checkContent(check, content, `${path}.content`, ASSISTANT_PARTS);
  }
  close(`messages[${messages.length}]`);
}

const TEXT_PARTS: ReadonlySet<string> = new Set(["text"]);
const ASSISTANT_PARTS: ReadonlySet<string> = new Set(["text", "refusal", "thinking"]);
const USER_PARTS: ReadonlySet<string> = new Set(["text", "image_url", "input_audio", "file", "document_url", "video_url"]);

function checkContent(check: RequestCheck, content: unknown, path: string, types: ReadonlySet<string>): void {
  if (typeof content === "string") return;
  for (const [at, value] of (check.list(content, path) ?? []).entries()) {
    const part = check.object(value, `${path}[${at}]`);
    const type = part && check.filled(part["type"], `${path}[${at}].type`);
    if (part === undefined || type === undefined) continue;
    if (!types.has(type)) check.fail(`${path}[${at}].type`, `${type} may not stand here`);
    else checkPart(check, part, type, `${path}[${at}]`);
  }
}

function checkPart(check: RequestCheck, part: Fields, type: string, path: string): void {
  switch (type) {
    case "text":
      check.filled(part["text"], `${path}.text`);
      return;
    case "image_url": {
      // Mistral takes the address itself.
      const image = part["image_url"];
      const url = typeof image === "string" ? image : check.object(image, `${path}.image_url`)?.["url"];
      check.matching(url, `${path}.image_url.url`, /^(?:https?:|data:)/);
      checkImageUrl(check, url, `${path}.image_url.url`, OPENAI_IMAGES);
      return;
    }
    case "input_audio": {
      const audio = check.object(part["input_audio"], `${path}.input_audio`);
      check.filled(audio?.["data"], `${path}.input_audio.data`);
      check.filled(audio?.["format"], `${path}.input_audio.format`);
      return;
    }
    case "file": {
      const file = check.object(part["file"], `${path}.file`);
      if (file !== undefined && file["file_id"] === undefined) check.filled(file["file_data"], `${path}.file.file_data`);
      return;
    }
    case "refusal":
      check.string(part["refusal"], `${path}.refusal`);
  }
}

function checkCalls(check: RequestCheck, message: Fields, path: string, maxCallId: number): Set<string> {
  const ids = new Set<string>();
  if (message["tool_calls"] === undefined || message["tool_calls"] === null) return ids;
  for (const [at, value] of (check.list(message["tool_calls"], `${path}.tool_calls`) ?? []).entries()) {
    const where = `${path}.tool_calls[${at}]`;
    const call = check.object(value, where);
    if (call === undefined) continue;
    const id = check.filled(call["id"], `${where}.id`);
    if (id !== undefined && id.length > maxCallId) check.fail(`${where}.id`, `is longer than ${maxCallId} characters`);
    if (id !== undefined && ids.has(id)) check.fail(`${where}.id`, `the call id ${JSON.stringify(id)} is not unique`);
    if (id !== undefined) ids.add(id);
    const type = check.oneOf(call["type"], `${where}.type`, ["function", "custom"]);
    if (type === "custom") {
      const custom = check.object(call["custom"], `${where}.custom`);
      check.filled(custom?.["name"], `${where}.custom.name`);
      check.string(custom?.["input"], `${where}.custom.input`);
    } else if (type === "function") checkFunction(check, call["function"], `${where}.function`);
  }
  return ids;
}

function checkFunctionCall(check: RequestCheck, message: Fields, path: string): string | undefined {
  if (message["function_call"] === undefined || message["function_call"] === null) return undefined;
  return checkFunction(check, message["function_call"], `${path}.function_call`);
}

function checkFunction(check: RequestCheck, value: unknown, path: string): string | undefined {
  const fields = check.object(value, path);
  if (fields === undefined) return undefined;
  const text = check.string(fields["arguments"], `${path}.arguments`);
  // OpenAI takes any text; vLLM, Mistral and those that parse it for their templates do not.
  if (text !== undefined && text !== "" && !isJson(text)) check.fail(`${path}.arguments`, "is no JSON");
  return check.matching(fields["name"], `${path}.name`, NAME);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isFilled(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
