import { checkToolSchema, type SchemaConditions } from "./tool-schema.ts";
import { type Fields, RequestCheck, type RequestFacts, type RequestProblem } from "./request-check.ts";

const TOP_LEVEL: ReadonlySet<string> = new Set(
  "model messages tools format options stream think keep_alive logprobs top_logprobs truncate shift".split(" "),
);

/** "cannot unmarshal … into Go struct field … of type api.ToolProperty". */
const SCHEMA: SchemaConditions = { notAtTop: ["anyOf", "oneOf", "allOf"], structured: true };

/** What Ollama's `/api/chat` would refuse, or what its model templates would silently get wrong, in a request. */
export function validateOllamaRequest(body: unknown, _facts?: RequestFacts): readonly RequestProblem[] {
  const check = new RequestCheck();
  const request = check.object(body, "");
  if (request === undefined) return check.problems;
  check.known(request, "", TOP_LEVEL);
  check.filled(request["model"], "model");
  check.flag(request["stream"], "stream");
  const { think, format, options } = request;
  if (think !== undefined && typeof think !== "boolean") check.oneOf(think, "think", ["low", "medium", "high"]);
  if (typeof format === "string") check.oneOf(format, "format", ["", "json"]);
  else if (format !== undefined && format !== null) check.object(format, "format");
  if (options !== undefined && options !== null) check.object(options, "options");
  checkTools(check, request["tools"]);
  checkMessages(check, request["messages"]);
  return check.problems;
}

function checkTools(check: RequestCheck, value: unknown): void {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return;
  const names: string[] = [];
  for (const [at, entry] of (check.list(value, "tools") ?? []).entries()) {
    const tool = check.object(entry, `tools[${at}]`);
    if (tool === undefined) continue;
    if (tool["type"] !== undefined) check.oneOf(tool["type"], `tools[${at}].type`, ["function"]);
    const described = check.object(tool["function"], `tools[${at}].function`);
    const name = described && check.filled(described["name"], `tools[${at}].function.name`);
    if (name !== undefined) names.push(name);
    if (described?.["parameters"] !== undefined)
      checkToolSchema(check, described["parameters"], `tools[${at}].function.parameters`, SCHEMA);
  }
  check.unique(names, "tools", "the name");
}

function checkMessages(check: RequestCheck, value: unknown): void {
  let open: string[] = [];
  const messages = check.list(value, "messages") ?? [];
  const close = (path: string): void => {
    if (open.length > 0) check.fail(path, `the calls of ${open.join(", ")} have no results right after them`);
    open = [];
  };
  for (const [at, entry] of messages.entries()) {
    const path = `messages[${at}]`;
    const message = check.object(entry, path);
    const role = message && check.oneOf(message["role"], `${path}.role`, ["system", "user", "assistant", "tool"]);
    if (message === undefined || role === undefined) continue;
    const content = check.string(message["content"] ?? "", `${path}.content`);
    checkImages(check, message["images"], `${path}.images`);
    if (role === "tool") {
      const name = message["tool_name"] ?? message["name"] ?? open[0];
      const index = open.indexOf(String(name));
      if (index < 0) check.fail(path, `answers a call of ${String(name)} that was not made, or was answered before`);
      else open.splice(index, 1);
      continue;
    }
    close(path);
    const calls = role === "assistant" ? checkCalls(check, message, path) : [];
    if (role !== "assistant" && message["tool_calls"] !== undefined && message["tool_calls"] !== null)
      check.fail(`${path}.tool_calls`, `a message of the ${role} calls nothing`);
    const holds = calls.length > 0 || message["images"] !== undefined || (role === "assistant" && message["thinking"] !== undefined);
    if (content === "" && !holds) check.fail(`${path}.content`, "must not be empty");
    open = calls;
  }
  close(`messages[${messages.length}]`);
}

function checkImages(check: RequestCheck, value: unknown, path: string): void {
  if (value === undefined || value === null) return;
  for (const [at, image] of (check.list(value, path) ?? []).entries()) {
    // The bytes themselves: neither an address nor a data URL.
    const text = check.filled(image, `${path}[${at}]`);
    if (text !== undefined && /^(?:https?:|data:)/.test(text)) check.fail(`${path}[${at}]`, "must be base64, not a URL");
  }
}

function checkCalls(check: RequestCheck, message: Fields, path: string): string[] {
  const { tool_calls: calls } = message;
  if (calls === undefined || calls === null || (Array.isArray(calls) && calls.length === 0)) return [];
  const names: string[] = [];
  for (const [at, value] of (check.list(calls, `${path}.tool_calls`) ?? []).entries()) {
    const call = check.object(value, `${path}.tool_calls[${at}]`);
    const described = call && check.object(call["function"], `${path}.tool_calls[${at}].function`);
    const name = described && check.filled(described["name"], `${path}.tool_calls[${at}].function.name`);
    if (described !== undefined) check.object(described["arguments"], `${path}.tool_calls[${at}].function.arguments`);
    if (name !== undefined) names.push(name);
  }
  return names;
}
