import { checkImage } from "./check-image.ts";
import { checkToolSchema, type SchemaConditions } from "./tool-schema.ts";
import { type Fields, isBlank, RequestCheck, type RequestFacts, type RequestProblem } from "./request-check.ts";

const TOP_LEVEL: ReadonlySet<string> = new Set(
  (
    "model messages max_tokens system metadata stop_sequences stream temperature top_p top_k tools tool_choice thinking output_config " +
    "output_format service_tier container mcp_servers context_management cache_control inference_geo speed"
  ).split(" "),
);
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
/** "input_schema does not support oneOf, allOf, or anyOf at the top level", "Property keys should match pattern …". */
const SCHEMA: SchemaConditions = { notAtTop: ["oneOf", "allOf", "anyOf"], keys: /^[a-zA-Z0-9_.-]{1,64}$/ };
const IMAGES = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const MAX_CACHE_MARKS = 4;
const SERVER_RESULT = /_tool_result$/;

/** What Anthropic's Messages API would refuse in a request. */
export function validateAnthropicRequest(body: unknown, _facts?: RequestFacts): readonly RequestProblem[] {
  const check = new RequestCheck();
  const request = check.object(body, "");
  if (request === undefined) return check.problems;
  check.known(request, "", TOP_LEVEL);
  check.filled(request["model"], "model");
  if (request["max_tokens"] === undefined) check.fail("max_tokens", "is required");
  const maxTokens = check.number(request["max_tokens"], "max_tokens", { from: 1, whole: true });
  check.number(request["temperature"], "temperature", { from: 0, to: 1 });
  check.number(request["top_p"], "top_p", { from: 0, to: 1 });
  check.flag(request["stream"], "stream");
  for (const [at, stop] of ((request["stop_sequences"] as unknown[] | undefined) ?? []).entries())
    if (isBlank(String(stop))) check.fail(`stop_sequences[${at}]`, "must hold more than blanks");
  checkSystem(check, request["system"]);
  const tools = checkTools(check, request["tools"]);
  const forced = checkToolChoice(check, request["tool_choice"], tools);
  const thinking = checkThinking(check, request, maxTokens, forced);
  checkMessages(check, request["messages"], thinking);
  const marks = JSON.stringify([request["tools"], request["system"], request["messages"]]).split(`"cache_control":{`).length - 1;
  if (marks > MAX_CACHE_MARKS) check.fail("", `${marks} cache marks: the API takes ${MAX_CACHE_MARKS}`);
  return check.problems;
}

function checkSystem(check: RequestCheck, system: unknown): void {
  if (system === undefined || typeof system === "string") return;
  for (const [at, value] of (check.list(system, "system") ?? []).entries()) {
    const block = check.object(value, `system[${at}]`);
    if (block === undefined) continue;
    check.oneOf(block["type"], `system[${at}].type`, ["text"]);
    checkText(check, block["text"], `system[${at}].text`);
  }
}

function checkText(check: RequestCheck, text: unknown, path: string): void {
  const value = check.string(text, path);
  if (value !== undefined && isBlank(value)) check.fail(path, "text must hold more than blanks");
}

/** The names of the tools; `undefined` where the request has none. */
function checkTools(check: RequestCheck, tools: unknown): ReadonlySet<string> | undefined {
  if (tools === undefined || (Array.isArray(tools) && tools.length === 0)) return undefined;
  const names: string[] = [];
  for (const [at, value] of (check.list(tools, "tools") ?? []).entries()) {
    const path = `tools[${at}]`;
    const tool = check.object(value, path);
    if (tool === undefined) continue;
    const type = tool["type"] ?? "custom";
    if (type === "mcp_toolset") continue;
    const name = check.matching(tool["name"], `${path}.name`, TOOL_NAME);
    if (name !== undefined) names.push(name);
    if (type === "custom") {
      checkToolSchema(check, tool["input_schema"], `${path}.input_schema`, SCHEMA);
    }
  }
  check.unique(names, "tools", "the name");
  return new Set(names);
}

/** Whether the model must call a tool. */
function checkToolChoice(check: RequestCheck, value: unknown, tools: ReadonlySet<string> | undefined): boolean {
  if (value === undefined) return false;
  const choice = check.object(value, "tool_choice");
  const type = check.oneOf(choice?.["type"], "tool_choice.type", ["auto", "any", "tool", "none"]);
  if (tools === undefined) check.fail("tool_choice", "may only be given with tools");
  if (type !== "tool") return type === "any";
  const name = check.filled(choice?.["name"], "tool_choice.name");
  if (name !== undefined && tools !== undefined && !tools.has(name))
    check.fail("tool_choice.name", `there is no tool ${JSON.stringify(name)}`);
  return true;
}

/** Whether thinking is `enabled`, which the history must then fit. */
function checkThinking(check: RequestCheck, request: Fields, maxTokens: number | undefined, forced: boolean): boolean {
  if (request["thinking"] === undefined) return false;
  const thinking = check.object(request["thinking"], "thinking");
  const type = check.oneOf(thinking?.["type"], "thinking.type", ["enabled", "disabled", "adaptive"]);
  if (type === undefined || type === "disabled") return false;
  if (forced) check.fail("tool_choice", "cannot force a call while the model thinks");
  if (type === "adaptive") return false;
  if (thinking?.["budget_tokens"] === undefined) check.fail("thinking.budget_tokens", "is required");
  const budget = check.number(thinking?.["budget_tokens"], "thinking.budget_tokens", { from: 1024, whole: true });
  if (budget !== undefined && maxTokens !== undefined && budget >= maxTokens)
    check.fail("max_tokens", "must be more than thinking.budget_tokens");
  const { temperature } = request;
  if (temperature !== undefined && temperature !== 1) check.fail("temperature", "may only be 1 while the model thinks");
  return true;
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly path: string;
  readonly blocks: Fields[];
}

function checkMessages(check: RequestCheck, value: unknown, thinking: boolean): void {
  const messages = check.list(value, "messages");
  if (messages === undefined) return;
  const turns: Turn[] = [];
  for (const [at, entry] of messages.entries()) {
    const path = `messages[${at}]`;
    const message = check.object(entry, path);
    const role = message && check.oneOf(message["role"], `${path}.role`, ["user", "assistant"]);
    if (message === undefined || role === undefined) continue;
    const last = at === messages.length - 1;
    const blocks = contentBlocks(check, message["content"], `${path}.content`, role as Turn["role"], last);
    const before = turns.at(-1);
    // Neighbours of one role are joined by the API.
    if (before?.role === role) before.blocks.push(...blocks);
    else turns.push({ role: role as Turn["role"], path, blocks });
  }
  if (turns[0]?.role === "assistant") check.fail("messages[0].role", "the first message must be the user's");
  for (const { role, path, blocks } of turns)
    if (role === "assistant" && /^(?:redacted_)?thinking$/.test(String(blocks.at(-1)?.["type"])))
      check.fail(path, "the final block of an assistant message must not be thinking");
  checkPairs(check, turns);
  const final = turns.at(-1);
  if (final === undefined) return;
  const end = final.blocks.at(-1);
  if (final.role === "assistant" && end?.["type"] === "text" && /\s$/.test(String(end["text"])))
    check.fail(final.path, "the final assistant message must not end with blanks");
  // In an open tool loop the turn goes on, and it must have begun with thinking.
  const calling = final.role === "user" && final.blocks.some((block) => block["type"] === "tool_result") ? turns.at(-2) : undefined;
  if (thinking && calling !== undefined && !/^(?:redacted_)?thinking$/.test(String(calling.blocks[0]?.["type"])))
    check.fail(calling.path, "must begin with thinking, since thinking is enabled and its calls get their results");
}

function contentBlocks(check: RequestCheck, content: unknown, path: string, role: Turn["role"], last: boolean): Fields[] {
  if (typeof content === "string") {
    if (isBlank(content) && !(last && role === "assistant")) check.fail(path, "must hold more than blanks");
    return content === "" ? [] : [{ type: "text", text: content }];
  }
  if (Array.isArray(content) && content.length === 0 && last && role === "assistant") return [];
  const blocks: Fields[] = [];
  for (const [at, value] of (check.list(content, path) ?? []).entries()) {
    const block = check.object(value, `${path}[${at}]`);
    if (block === undefined) continue;
    blocks.push(block);
    checkBlock(check, block, `${path}[${at}]`, role);
  }
  return blocks;
}

function checkBlock(check: RequestCheck, block: Fields, path: string, role: Turn["role"]): void {
  const type = check.filled(block["type"], `${path}.type`);
  const only = (owner: Turn["role"]): void => {
    if (role !== owner) check.fail(`${path}.type`, `${type} may only stand in messages of the ${owner}`);
  };
  switch (type) {
    case undefined:
      return;
    case "text":
      checkText(check, block["text"], `${path}.text`);
      return;
    case "thinking":
      only("assistant");
      check.string(block["thinking"], `${path}.thinking`);
      check.filled(block["signature"], `${path}.signature`);
      return;
    case "redacted_thinking":
      only("assistant");
      check.filled(block["data"], `${path}.data`);
      return;
    case "tool_use":
      only("assistant");
      check.matching(block["id"], `${path}.id`, CALL_ID);
      check.matching(block["name"], `${path}.name`, TOOL_NAME);
      check.object(block["input"], `${path}.input`);
      return;
    case "server_tool_use":
    case "mcp_tool_use":
      only("assistant");
      check.filled(block["id"], `${path}.id`);
      check.object(block["input"], `${path}.input`);
      return;
    case "tool_result":
      only("user");
      check.matching(block["tool_use_id"], `${path}.tool_use_id`, CALL_ID);
      checkResult(check, block["content"], `${path}.content`);
      return;
    case "image":
    case "document":
      only("user");
      checkSource(check, block["source"], `${path}.source`, type);
      return;
    case "container_upload":
      only("user");
      check.filled(block["file_id"], `${path}.file_id`);
      return;
    case "search_result":
    case "compaction":
      return;
    default:
      if (!SERVER_RESULT.test(type)) check.fail(`${path}.type`, `there are no blocks of type ${JSON.stringify(type)}`);
      else check.filled(block["tool_use_id"], `${path}.tool_use_id`);
  }
}

function checkResult(check: RequestCheck, content: unknown, path: string): void {
  if (content === undefined || typeof content === "string") return;
  if (!Array.isArray(content)) {
    check.fail(path, "must be a string or an array");
    return;
  }
  for (const [at, value] of content.entries()) {
    const block = check.object(value, `${path}[${at}]`);
    const type =
      block && check.oneOf(block["type"], `${path}[${at}].type`, ["text", "image", "document", "search_result", "tool_reference"]);
    if (type === "text") checkText(check, block?.["text"], `${path}[${at}].text`);
    if (type === "image" || type === "document") checkSource(check, block?.["source"], `${path}[${at}].source`, type);
  }
}

function checkSource(check: RequestCheck, value: unknown, path: string, of: "image" | "document"): void {
  const source = check.object(value, path);
  switch (source?.["type"]) {
    case "base64":
    case "text":
      check.filled(source["data"], `${path}.data`);
      if (of === "image") checkImage(check, source["media_type"], source["data"], `${path}.media_type`, IMAGES);
      else check.oneOf(source["media_type"], `${path}.media_type`, ["application/pdf", "text/plain"]);
      return;
    case "url":
      check.matching(source["url"], `${path}.url`, /^https?:\/\//);
      return;
    case "file":
      check.filled(source["file_id"], `${path}.file_id`);
      return;
    case "content":
      return;
    default:
      if (source !== undefined) check.fail(`${path}.type`, "must be base64, url, text, file or content");
  }
}

/** Every call has its result at the beginning of the next message, once; nothing else has one. */
function checkPairs(check: RequestCheck, turns: readonly Turn[]): void {
  const ids = new Set<string>();
  for (const [at, turn] of turns.entries()) {
    if (turn.role === "user") {
      checkResults(check, turn, at === 0 ? undefined : turns[at - 1]);
      continue;
    }
    const calls = callIds(turn);
    for (const id of calls) {
      if (ids.has(id)) check.fail(turn.path, `the call id ${JSON.stringify(id)} is not unique`);
      ids.add(id);
    }
    if (calls.length > 0 && at === turns.length - 1) check.fail(turn.path, `the calls ${calls.join(", ")} have no results`);
  }
}

function checkResults(check: RequestCheck, turn: Turn, before: Turn | undefined): void {
  const open = new Set(before === undefined ? [] : callIds(before));
  const results = turn.blocks.filter((block) => block["type"] === "tool_result");
  const finished = new Set<string>();
  for (const { tool_use_id: id } of results) {
    if (finished.has(String(id))) check.fail(turn.path, `the call ${String(id)} has two results`);
    else if (!open.delete(String(id))) check.fail(turn.path, `a result names ${String(id)}, but the message before has no such call`);
    finished.add(String(id));
  }
  if (open.size > 0) check.fail(turn.path, `the calls ${[...open].join(", ")} have no results right after them`);
  if (results.length > 0 && turn.blocks.slice(0, results.length).some((block) => block["type"] !== "tool_result"))
    check.fail(turn.path, "results must stand before everything else");
}

function callIds(turn: Turn): string[] {
  return turn.blocks.filter((block) => block["type"] === "tool_use").map((block) => String(block["id"]));
}
