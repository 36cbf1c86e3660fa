import { nestsDeeper } from "../../json/nests-deeper.ts";
import { checkImage } from "./check-image.ts";
import { type Fields, RequestCheck, type RequestFacts, type RequestProblem } from "./request-check.ts";

/** "Must start with a letter or an underscore … with a maximum length of 64". */
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const IMAGES = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
const FORMATS: { readonly [type: string]: readonly string[] } = {
  STRING: ["enum", "date-time"],
  NUMBER: ["float", "double"],
  INTEGER: ["int32", "int64"],
};
/** Messages of protobuf nest 100 deep at most; a level of a `Struct` takes three. */
const MAX_ARGUMENT_DEPTH = 30;
const TYPES: ReadonlySet<string> = new Set(["OBJECT", "ARRAY", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "NULL", "TYPE_UNSPECIFIED"]);
/** What `Schema` has; the API responds "Unknown name" to everything else. */
const SCHEMA_FIELDS: ReadonlySet<string> = new Set(
  (
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength " +
    "pattern example anyOf propertyOrdering default items minimum maximum"
  ).split(" "),
);
const DATA_FIELDS = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];

/** What Gemini's `generateContent` would refuse in a request. Fields may be written in either case of protobuf's JSON. */
export function validateGeminiRequest(body: unknown, facts: RequestFacts = {}): readonly RequestProblem[] {
  const check = new RequestCheck();
  const raw = check.object(body, "");
  if (raw === undefined) return check.problems;
  const request = camelCased(raw);
  for (const field of ["messages", "model_name", "input"]) if (raw[field] !== undefined) check.fail(field, "is not a field of the API");
  checkGeneration(check, request["generationConfig"]);
  checkSystem(check, request["systemInstruction"]);
  checkTools(check, request["tools"]);
  checkToolConfig(check, request["toolConfig"]);
  checkContents(check, request["contents"], facts.model ?? "");
  return check.problems;
}

function checkGeneration(check: RequestCheck, value: unknown): void {
  if (value === undefined || value === null) return;
  const fields = check.object(value, "generationConfig");
  if (fields === undefined) return;
  const config = camelCased(fields);
  check.number(config["maxOutputTokens"], "generationConfig.maxOutputTokens", { from: 1, whole: true });
  check.number(config["temperature"], "generationConfig.temperature", { from: 0, to: 2 });
  check.number(config["topP"], "generationConfig.topP", { from: 0, to: 1 });
  if (config["responseSchema"] !== undefined) {
    if (config["responseMimeType"] === undefined) check.fail("generationConfig.responseMimeType", "must be given with responseSchema");
    checkSchema(check, config["responseSchema"], "generationConfig.responseSchema");
  }
}

function checkSystem(check: RequestCheck, value: unknown): void {
  if (value === undefined || value === null) return;
  const parts = check.list(check.object(value, "systemInstruction")?.["parts"], "systemInstruction.parts");
  for (const [at, part] of (parts ?? []).entries())
    check.filled(check.object(part, `systemInstruction.parts[${at}]`)?.["text"], `systemInstruction.parts[${at}].text`);
}

function checkTools(check: RequestCheck, value: unknown): void {
  if (value === undefined || value === null) return;
  const names: string[] = [];
  const tools = Array.isArray(value) ? value : [value];
  for (const [at, entry] of tools.entries()) {
    const tool = check.object(entry, `tools[${at}]`);
    const declarations = tool && camelCased(tool)["functionDeclarations"];
    if (declarations === undefined || declarations === null) continue;
    for (const [index, item] of (check.list(declarations, `tools[${at}].functionDeclarations`) ?? []).entries()) {
      const path = `tools[${at}].functionDeclarations[${index}]`;
      const fields = check.object(item, path);
      if (fields === undefined) continue;
      const declaration = camelCased(fields);
      const name = check.matching(declaration["name"], `${path}.name`, FUNCTION_NAME);
      if (name !== undefined) names.push(name);
      if (declaration["parameters"] !== undefined && declaration["parameters"] !== null)
        checkParameters(check, declaration["parameters"], `${path}.parameters`);
      if (declaration["parameters"] !== undefined && declaration["parametersJsonSchema"] !== undefined)
        check.fail(path, "parameters and parametersJsonSchema exclude each other");
    }
  }
  check.unique(names, "tools", "the function");
}

function checkParameters(check: RequestCheck, value: unknown, path: string): void {
  const type = check.object(value, path)?.["type"];
  if (typeof type !== "string" || type.toUpperCase() !== "OBJECT") check.fail(`${path}.type`, "parameters must be of type OBJECT");
  checkSchema(check, value, path);
}

function checkSchema(check: RequestCheck, value: unknown, path: string): void {
  const fields = check.object(value, path);
  if (fields === undefined) return;
  const schema = camelCased(fields);
  check.known(schema, path, SCHEMA_FIELDS);
  const { type } = schema;
  if (type !== undefined && (typeof type !== "string" || !TYPES.has(type.toUpperCase())))
    check.fail(`${path}.type`, "is no type of the API");
  const { properties, items, anyOf, required, format } = schema;
  const kind = typeof type === "string" ? type.toUpperCase() : undefined;
  if (kind === undefined && !Array.isArray(anyOf)) check.fail(`${path}.type`, "is required where there is no choice");
  if (kind === "ARRAY" && (items === undefined || items === null)) check.fail(`${path}.items`, "missing field");
  if (schema["enum"] !== undefined) {
    if (kind !== "STRING") check.fail(`${path}.enum`, "only allowed for STRING type");
    for (const [at, each] of (check.list(schema["enum"], `${path}.enum`) ?? []).entries()) check.filled(each, `${path}.enum[${at}]`);
  }
  if (format !== undefined && kind !== undefined && FORMATS[kind]?.includes(String(format)) !== true)
    check.fail(`${path}.format`, `${kind} has no format ${JSON.stringify(format)}`);
  if (properties !== undefined && properties !== null)
    for (const [name, each] of Object.entries(check.object(properties, `${path}.properties`) ?? {}))
      checkSchema(check, each, `${path}.properties.${name}`);
  if (items !== undefined && items !== null) checkSchema(check, items, `${path}.items`);
  if (Array.isArray(anyOf)) for (const [at, each] of anyOf.entries()) checkSchema(check, each, `${path}.anyOf[${at}]`);
  if (Array.isArray(required))
    for (const name of required)
      if (!Object.hasOwn((properties as object | undefined) ?? {}, String(name)))
        check.fail(`${path}.required`, `${String(name)} is no property`);
}

function checkToolConfig(check: RequestCheck, value: unknown): void {
  if (value === undefined || value === null) return;
  const fields = check.object(value, "toolConfig");
  const calling = fields && camelCased(fields)["functionCallingConfig"];
  if (calling === undefined || calling === null) return;
  const mode = check.object(calling, "toolConfig.functionCallingConfig")?.["mode"];
  if (mode !== undefined)
    check.oneOf(mode, "toolConfig.functionCallingConfig.mode", ["AUTO", "ANY", "NONE", "VALIDATED", "MODE_UNSPECIFIED"]);
}

interface Content {
  readonly role: string;
  readonly path: string;
  readonly parts: readonly Fields[];
}

function checkContents(check: RequestCheck, value: unknown, model: string): void {
  const contents: Content[] = [];
  for (const [at, entry] of (check.list(value, "contents") ?? []).entries()) {
    const path = `contents[${at}]`;
    const content = check.object(entry, path);
    if (content === undefined) continue;
    const role = content["role"] === undefined ? "user" : check.oneOf(content["role"], `${path}.role`, ["user", "model", "function"]);
    const parts: Fields[] = [];
    for (const [index, item] of (check.list(content["parts"], `${path}.parts`) ?? []).entries()) {
      const part = check.object(item, `${path}.parts[${index}]`);
      if (part === undefined) continue;
      const fields = camelCased(part);
      parts.push(fields);
      checkPart(check, fields, `${path}.parts[${index}]`, role);
    }
    if (role !== undefined) contents.push({ role, path, parts });
  }
  if (contents[0]?.role === "model") check.fail("contents[0].role", "the first turn must be the user's");
  for (const [at, content] of contents.entries()) checkCalls(check, contents, content, at);
  if (/gemini-3/.test(model)) checkSignatures(check, contents);
}

function checkPart(check: RequestCheck, part: Fields, path: string, role: string | undefined): void {
  const held = DATA_FIELDS.filter((field) => part[field] !== undefined);
  const signature = part["thoughtSignature"];
  if (signature !== undefined) check.filled(signature, `${path}.thoughtSignature`);
  if (held.length !== 1) {
    check.fail(path, held.length === 0 ? "holds no data" : `holds ${held.join(" and ")} at once`);
    return;
  }
  const [field] = held;
  const value = part[field as string];
  switch (field) {
    case "text":
      if (check.string(value, `${path}.text`) === "" && signature === undefined) check.fail(`${path}.text`, "must not be empty");
      return;
    case "inlineData":
    case "fileData": {
      const fields = check.object(value, `${path}.${field}`);
      const data = fields && camelCased(fields);
      const mediaType = field === "inlineData" ? check.filled(data?.["mimeType"], `${path}.inlineData.mimeType`) : undefined;
      if (mediaType !== undefined && /^image\//i.test(mediaType))
        checkImage(check, mediaType, data?.["data"], `${path}.inlineData.mimeType`, IMAGES);
      check.filled(field === "inlineData" ? data?.["data"] : data?.["fileUri"], `${path}.${field}`);
      return;
    }
    case "functionCall": {
      const call = check.object(value, `${path}.functionCall`);
      check.matching(call?.["name"], `${path}.functionCall.name`, FUNCTION_NAME);
      if (call?.["args"] !== undefined) check.object(call["args"], `${path}.functionCall.args`);
      if (nestsDeeper(call?.["args"], MAX_ARGUMENT_DEPTH)) check.fail(`${path}.functionCall.args`, "message too deep");
      if (role !== "model") check.fail(path, "only the model calls functions");
      return;
    }
    case "functionResponse": {
      const response = check.object(value, `${path}.functionResponse`);
      check.matching(response?.["name"], `${path}.functionResponse.name`, FUNCTION_NAME);
      check.object(response?.["response"], `${path}.functionResponse.response`);
      if (role === "model") check.fail(path, "the model has no results of functions");
    }
  }
}

/** A turn with calls comes after one of the user; as many responses as calls follow it, of the same names. */
function checkCalls(check: RequestCheck, contents: readonly Content[], content: Content, at: number): void {
  const calls = functionsOf(content, "functionCall");
  const next = contents[at + 1];
  if (calls.length > 0) {
    const responses = next === undefined ? [] : functionsOf(next, "functionResponse");
    if (next?.role === "model") check.fail(next.path, "calls must have results before the model goes on");
    else if (responses.length !== calls.length)
      check.fail(content.path, `has ${calls.length} calls, and ${responses.length} responses after it`);
    else if (names(responses) !== names(calls))
      check.fail(content.path, `calls ${names(calls)}, but the responses are of ${names(responses)}`);
    else if (ids(calls) !== "" && ids(responses) !== ids(calls))
      check.fail(content.path, `calls ${ids(calls)}, but the responses name ${ids(responses)}`);
    check.unique(
      ids(calls)
        .split(" ")
        .filter((id) => id !== ""),
      content.path,
      "the call id",
    );
  }
  const responses = functionsOf(content, "functionResponse");
  if (responses.length > 0 && (at === 0 || functionsOf(contents[at - 1] as Content, "functionCall").length === 0))
    check.fail(content.path, "responses must come right after the turn with their calls");
}

/** Gemini 3 refuses calls of the open turn whose step lost its signature. */
function checkSignatures(check: RequestCheck, contents: readonly Content[]): void {
  const start = contents.findLastIndex(
    ({ role, parts }) => role !== "model" && parts.some((part) => part["functionResponse"] === undefined),
  );
  for (const { role, parts, path } of contents.slice(start + 1)) {
    if (role !== "model") continue;
    const first = parts.find((part) => part["functionCall"] !== undefined);
    if (first !== undefined && first["thoughtSignature"] === undefined) check.fail(path, "its first call lacks a thought signature");
  }
}

function functionsOf(content: Content, field: "functionCall" | "functionResponse"): readonly Fields[] {
  return content.parts.map((part) => part[field]).filter((value) => value !== undefined) as Fields[];
}

function names(functions: readonly Fields[]): string {
  return functions
    .map((each) => String(each["name"]))
    .toSorted()
    .join(" ");
}

function ids(functions: readonly Fields[]): string {
  return functions
    .map((each) => String(each["id"] ?? ""))
    .filter((id) => id !== "")
    .toSorted()
    .join(" ");
}

function camelCased(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()), value]),
  );
}
