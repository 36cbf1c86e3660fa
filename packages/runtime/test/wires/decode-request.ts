import type { CallId, Content, JsonObject, JsonValue, Message, ProviderData, Role, ToolSchema } from "@keelson/protocol";
import type { Recording } from "./recordings.ts";

interface Fields {
  readonly [name: string]: unknown;
}

/** A recorded request in our words. */
export interface DecodedRequest {
  readonly model: string;
  readonly system: string | undefined;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly output: { readonly name: string; readonly schema: JsonObject } | undefined;
  /** What our requests would have of it only if they were told to. */
  readonly extra: JsonObject;
}

/** The model that was asked: Azure and Gemini have it in the path. */
export function modelOf({ request, expect }: Pick<Recording, "request" | "expect">): string {
  const named = request.body?.["model"];
  if (typeof named === "string") return named;
  return /(?:models|deployments)\/([^:/]+)/.exec(request.path)?.[1] ?? expect.model ?? "a-model";
}

/** What a client of ours would have held when it sent this request. `undefined`: the body is of a kind we never send. */
export function decodeRequest(recording: Recording): DecodedRequest | undefined {
  const { body } = recording.request;
  const decode = DECODERS[recording.wire];
  if (body === null || decode === undefined) return undefined;
  const calls = new CallNames();
  const model = modelOf(recording);
  const { system, messages } = decode(body, { wire: recording.wire, model, calls });
  const tools = toolsIn(body);
  return { model, system: system === "" ? undefined : system, messages, tools, output: outputIn(body), extra: extraIn(body, tools) };
}

const OUTPUT_MEMBERS = ["response_format", "text", "format", "output_config", "output_format", "functions"];

/** The schema of the answer, wherever the wire has it. */
function outputIn(body: Fields): DecodedRequest["output"] {
  const generation = camelCased((camelCased(body)["generationConfig"] ?? {}) as Fields);
  const schema =
    OUTPUT_MEMBERS.map((name) => body[name]).find((value) => typeof value === "object" && value !== null) ?? generation["responseSchema"];
  return schema === undefined || schema === null ? undefined : { name: "answer", schema: schema as JsonObject };
}

const OWN_MEMBERS = new Set([
  "messages",
  "contents",
  "input",
  "system",
  "instructions",
  "systemInstruction",
  "system_instruction",
  "model",
  "stream",
  ...OUTPUT_MEMBERS,
]);

function extraIn(body: Fields, tools: readonly ToolSchema[]): JsonObject {
  const names = new Set(tools.map(({ name }) => name));
  const others = listOf(body["tools"]).filter((tool) => {
    const name = tool["name"] ?? (tool["function"] as Fields | undefined)?.["name"];
    return !(typeof name === "string" && names.has(name)) && camelCased(tool)["functionDeclarations"] === undefined;
  });
  const members = Object.entries(body).filter(([name, value]) => !OWN_MEMBERS.has(name) && name !== "tools" && value !== null);
  return { ...(Object.fromEntries(members) as JsonObject), ...(others.length > 0 && { tools: others as unknown as JsonValue }) };
}

/** Long base64 is left out of the recordings, but not its length. */
function restored(data: string): string {
  return data.replace(/<base64 omitted: (\d+) chars>/, (_marker, length: string) => "A".repeat(Number(length)));
}

interface Context {
  readonly wire: string;
  readonly model: string;
  readonly calls: CallNames;
}

type Decoder = (body: Fields, context: Context) => { readonly system: string; readonly messages: readonly Message[] };

const DECODERS: { readonly [wire: string]: Decoder | undefined } = {
  "anthropic-messages": anthropicMessages,
  "openai-chat": chatMessages,
  "openai-responses": responsesMessages,
  "gemini": geminiMessages,
  "ollama-chat": ollamaMessages,
};

/** Our ids of the calls, by the vendor's; and their names, which results lack on most wires. */
class CallNames {
  readonly #byVendorId = new Map<string, { readonly id: CallId; readonly name: string }>();
  readonly #open: { readonly id: CallId; readonly name: string }[] = [];
  #count = 0;

  call(vendorId: string, name: string): CallId {
    const id = `c_${this.#count++}` as CallId;
    if (vendorId !== "") this.#byVendorId.set(vendorId, { id, name });
    this.#open.push({ id, name });
    return id;
  }

  result(vendorId: string): { readonly id: CallId; readonly name: string } {
    return this.#byVendorId.get(vendorId) ?? { id: `c_unknown_${vendorId}` as CallId, name: "unknown" };
  }

  /** Wires without ids answer in order. */
  answered(name: string): { readonly id: CallId; readonly name: string } {
    const at = this.#open.findIndex((call) => name === "" || call.name === name);
    return at < 0 ? { id: `c_unknown_${name}` as CallId, name } : (this.#open.splice(at, 1)[0] as { id: CallId; name: string });
  }
}

function anthropicMessages(body: Fields, context: Context): ReturnType<Decoder> {
  const system = textIn(body["system"]);
  const messages = listOf(body["messages"]).map((message) => {
    const content = typeof message["content"] === "string" ? [{ type: "text", text: message["content"] }] : listOf(message["content"]);
    const parts = content.flatMap((block) => anthropicPart(block, context));
    return { role: roleOf(message["role"], parts), content: parts };
  });
  return { system, messages };
}

function anthropicPart(block: Fields, context: Context): Content[] {
  const { wire, model, calls } = context;
  const type = str(block["type"]);
  const data = (own: JsonObject): ProviderData => ({ wire, ...own });
  switch (type) {
    case "text":
      return [
        {
          type: "text",
          text: str(block["text"]),
          ...(Array.isArray(block["citations"]) && { providerData: data({ citations: block["citations"] as JsonValue }) }),
        },
      ];
    case "thinking":
      return [{ type: "thinking", text: str(block["thinking"]), providerData: data({ model, signature: str(block["signature"]) }) }];
    case "redacted_thinking":
      return [{ type: "thinking", text: "", providerData: data({ model, redacted: str(block["data"]) }) }];
    case "tool_use": {
      const name = str(block["name"]);
      const input = block["input"] as JsonValue;
      const id = str(block["id"]);
      return [{ type: "tool-call", id: calls.call(id, name), name, input, inputText: JSON.stringify(input), providerData: data({ id }) }];
    }
    case "tool_result": {
      const { content } = block;
      const parts = Array.isArray(content) ? listOf(content).flatMap((part) => anthropicPart(part, context)) : undefined;
      const output = parts === undefined ? str(content) : ({ type: "content", content: parts } as unknown as JsonValue);
      return [
        { type: "tool-result", ...calls.result(str(block["tool_use_id"])), output, ...(block["is_error"] === true && { isError: true }) },
      ];
    }
    case "image":
    case "document": {
      const source = (block["source"] ?? {}) as Fields;
      const mediaType = str(source["media_type"]) || (type === "image" ? "image/png" : "application/pdf");
      const where =
        source["type"] === "url"
          ? { url: str(source["url"]) }
          : source["type"] === "text"
            ? { data: Buffer.from(str(source["data"])).toString("base64") }
            : source["type"] === "file"
              ? { url: "https://example.com/file", providerData: data({ fileId: str(source["file_id"]) }) }
              : { data: restored(str(source["data"])) };
      return [{ type: type === "image" ? "image" : "file", mediaType, ...where }];
    }
    default:
      if (/(?:tool_use|_tool_result)$/.test(type))
        return [
          {
            type: "server-tool",
            name: str(block["name"]) || type,
            text: JSON.stringify(block).slice(0, 200),
            providerData: data({ block: block as JsonObject }),
          },
        ];
      return [{ type: "other", raw: block as JsonObject, providerData: data({}) }];
  }
}

function chatMessages(body: Fields, context: Context): ReturnType<Decoder> {
  const { wire, model, calls } = context;
  let system = "";
  const messages: Message[] = [];
  for (const message of listOf(body["messages"])) {
    const role = str(message["role"]);
    const parts =
      typeof message["content"] === "string"
        ? textPart(message["content"])
        : listOf(message["content"]).flatMap((part) => chatPart(part, context));
    if ((role === "system" || role === "developer") && messages.length === 0) {
      system += `${system === "" ? "" : "\n"}${parts.map((part) => (part.type === "text" ? part.text : "")).join("")}`;
      continue;
    }
    if (role === "tool" || role === "function") {
      const named = role === "tool" ? calls.result(str(message["tool_call_id"])) : calls.answered(str(message["name"]));
      const media = parts.some((part) => part.type !== "text");
      const output = media
        ? ({ type: "content", content: parts } as unknown as JsonValue)
        : parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      messages.push({ role: "tool", content: [{ type: "tool-result", ...named, output }] });
      continue;
    }
    const thinking = str(message["reasoning_content"]) || str(message["reasoning"]);
    const content: Content[] =
      thinking === "" ? [] : [{ type: "thinking", text: thinking, providerData: { wire, model, field: "reasoning_content" } }];
    content.push(...parts);
    if (str(message["refusal"]) !== "") content.push({ type: "refusal", text: str(message["refusal"]) });
    for (const call of listOf(message["tool_calls"])) {
      const id = str(call["id"]);
      const custom = call["type"] === "custom";
      const told = ((custom ? call["custom"] : call["function"]) ?? {}) as Fields;
      const inputText = str(custom ? told["input"] : told["arguments"]);
      content.push({
        type: "tool-call",
        id: calls.call(id, str(told["name"])),
        name: str(told["name"]),
        ...inputOf(inputText, custom),
        inputText,
        ...(custom && { custom: true as const }),
        providerData: { wire, id },
      });
    }
    const legacy = message["function_call"] as Fields | undefined;
    if (legacy !== undefined && legacy !== null) {
      const inputText = str(legacy["arguments"]);
      content.push({
        type: "tool-call",
        id: calls.call("", str(legacy["name"])),
        name: str(legacy["name"]),
        ...inputOf(inputText, false),
        inputText,
        providerData: { wire, functionCall: true },
      });
    }
    messages.push({ role: role === "assistant" ? "assistant" : role === "user" ? "user" : "system", content });
  }
  return { system, messages };
}

function chatPart(part: Fields, { wire, model }: Context): Content[] {
  switch (part["type"]) {
    case "text":
      return textPart(str(part["text"]));
    case "thinking":
      return [{ type: "thinking", text: textIn(part["thinking"]), providerData: { wire, model, field: "content" } }];
    case "image_url": {
      const image = part["image_url"];
      return [mediaOf("image", typeof image === "string" ? image : str((image as Fields | undefined)?.["url"]), "image/png")];
    }
    case "input_audio": {
      const audio = (part["input_audio"] ?? {}) as Fields;
      return [{ type: "file", mediaType: `audio/${str(audio["format"])}`, data: restored(str(audio["data"])) }];
    }
    case "file": {
      const file = (part["file"] ?? {}) as Fields;
      return [{ ...mediaOf("file", str(file["file_data"]), "application/pdf"), name: str(file["filename"]) || "file" } as Content];
    }
    case "document_url":
      return [mediaOf("file", str(part["document_url"]), "application/pdf")];
    default:
      return [{ type: "other", raw: part as JsonObject, providerData: { wire } }];
  }
}

function responsesMessages(body: Fields, context: Context): ReturnType<Decoder> {
  const { wire, model, calls } = context;
  const { input } = body;
  const messages: Message[] = [];
  const assistant = (part: Content): void => {
    const last = messages.at(-1);
    if (last?.role === "assistant") messages[messages.length - 1] = { ...last, content: [...last.content, part] };
    else messages.push({ role: "assistant", content: [part] });
  };
  for (const item of typeof input === "string" ? [{ role: "user", content: input }] : listOf(input)) {
    const type = str(item["type"]) || "message";
    const itemId = str(item["id"]);
    const own: ProviderData = { wire, model, ...(itemId !== "" && { itemId }) };
    if (type === "message") {
      const role = str(item["role"]);
      const content = item["content"];
      const parts = typeof content === "string" ? textPart(content) : listOf(content).flatMap(responsesPart);
      if (role === "assistant") for (const part of parts) assistant(itemId === "" ? part : ({ ...part, providerData: own } as Content));
      else messages.push({ role: role === "user" ? "user" : "system", content: parts });
    } else if (type === "reasoning") {
      const text = listOf(item["summary"])
        .map((part) => str(part["text"]))
        .join("\n");
      const encrypted = item["encrypted_content"];
      assistant({
        type: "thinking",
        text,
        providerData: { ...own, ...(typeof encrypted === "string" ? { encrypted } : { stored: true }) },
      });
    } else if (type === "function_call" || type === "custom_tool_call") {
      const custom = type === "custom_tool_call";
      const inputText = str(custom ? item["input"] : item["arguments"]);
      const id = str(item["call_id"]);
      assistant({
        type: "tool-call",
        id: calls.call(id, str(item["name"])),
        name: str(item["name"]),
        ...inputOf(inputText, custom),
        inputText,
        ...(custom && { custom: true as const }),
        providerData: { ...own, id },
      });
    } else if (type === "function_call_output" || type === "custom_tool_call_output") {
      const { output } = item;
      const told =
        typeof output === "string" ? output : ({ type: "content", content: listOf(output).flatMap(responsesPart) } as unknown as JsonValue);
      messages.push({ role: "tool", content: [{ type: "tool-result", ...calls.result(str(item["call_id"])), output: told }] });
    } else
      assistant({
        type: "server-tool",
        name: type,
        text: JSON.stringify(item).slice(0, 200),
        providerData: { ...own, item: item as JsonObject },
      });
  }
  return { system: str(body["instructions"]), messages };
}

function responsesPart(part: Fields): Content[] {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
      return textPart(str(part["text"]));
    case "refusal":
      return [{ type: "refusal", text: str(part["refusal"]) }];
    case "input_image":
      return [mediaOf("image", str(part["image_url"]) || "https://example.com/image.png", "image/png")];
    case "input_file":
      return [
        {
          ...mediaOf("file", str(part["file_data"]) || str(part["file_url"]) || "https://example.com/file.pdf", "application/pdf"),
          name: str(part["filename"]) || "file",
        } as Content,
      ];
    default:
      throw new Error(`no such part of an input: ${JSON.stringify(part)}`);
  }
}

function geminiMessages(raw: Fields, { wire, model, calls }: Context): ReturnType<Decoder> {
  const body = camelCased(raw);
  const messages = listOf(body["contents"]).map((content): Message => {
    const parts = listOf(content["parts"])
      .map(camelCased)
      .flatMap((part): Content[] => {
        const signature = part["thoughtSignature"];
        const signed = typeof signature === "string" ? { providerData: { wire, model, thoughtSignature: signature } } : {};
        const call = part["functionCall"] as Fields | undefined;
        const response = part["functionResponse"] as Fields | undefined;
        const media = part["inlineData"] ?? part["fileData"];
        if (part["thought"] === true) return [{ type: "thinking", text: str(part["text"]), ...signed }];
        if (typeof part["text"] === "string") return [{ type: "text", text: part["text"], ...signed }];
        if (call !== undefined) {
          const id = str(call["id"]);
          const input = (call["args"] ?? {}) as JsonValue;
          const data = { wire, model, ...(id !== "" && { id }), ...signed.providerData };
          return [
            {
              type: "tool-call",
              id: calls.call(id, str(call["name"])),
              name: str(call["name"]),
              input,
              inputText: JSON.stringify(input),
              providerData: data,
            },
          ];
        }
        if (response !== undefined) {
          const id = str(response["id"]);
          const named = id === "" ? calls.answered(str(response["name"])) : calls.result(id);
          return [{ type: "tool-result", ...named, output: (response["response"] ?? {}) as JsonValue }];
        }
        if (media !== undefined) {
          const { mimeType, data, fileUri } = camelCased(media as Fields);
          const mediaType = str(mimeType) || "application/octet-stream";
          return [
            {
              type: mediaType.startsWith("image/") ? "image" : "file",
              mediaType,
              ...(typeof data === "string" ? { data: restored(data) } : { url: str(fileUri) }),
            },
          ];
        }
        return [{ type: "server-tool", name: "code", text: JSON.stringify(part), providerData: { wire, part: part as JsonObject } }];
      });
    return { role: content["role"] === "model" ? "assistant" : roleOf("user", parts), content: parts };
  });
  return { system: textIn((body["systemInstruction"] as Fields | null | undefined)?.["parts"]), messages };
}

function ollamaMessages(body: Fields, { wire, model, calls }: Context): ReturnType<Decoder> {
  let system = "";
  const messages: Message[] = [];
  for (const message of listOf(body["messages"])) {
    const role = str(message["role"]);
    const content = textPart(str(message["content"]));
    if (role === "system" && messages.length === 0) system += str(message["content"]);
    else if (role === "tool")
      messages.push({
        role,
        content: [{ type: "tool-result", ...calls.answered(str(message["tool_name"])), output: str(message["content"]) }],
      });
    else {
      if (str(message["thinking"]) !== "")
        content.unshift({ type: "thinking", text: str(message["thinking"]), providerData: { wire, model } });
      for (const image of (message["images"] as string[] | undefined) ?? [])
        content.push({ type: "image", mediaType: "image/png", data: image });
      for (const call of listOf(message["tool_calls"])) {
        const told = (call["function"] ?? {}) as Fields;
        const input = told["arguments"] as JsonValue;
        content.push({
          type: "tool-call",
          id: calls.call("", str(told["name"])),
          name: str(told["name"]),
          input,
          inputText: JSON.stringify(input),
          providerData: { wire },
        });
      }
      messages.push({ role: role as Role, content });
    }
  }
  return { system, messages };
}

/** The functions among the tools, wherever the wire has them. */
function toolsIn(raw: Fields): ToolSchema[] {
  const tools = Array.isArray(raw["tools"]) ? listOf(raw["tools"]) : raw["tools"] ? [raw["tools"] as Fields] : [];
  return tools.flatMap((tool) => {
    const declared = camelCased(tool)["functionDeclarations"];
    const entries = Array.isArray(declared) ? listOf(declared) : [(tool["function"] as Fields | undefined) ?? tool];
    return entries.flatMap((entry): ToolSchema[] => {
      const schema = entry["input_schema"] ?? entry["parameters"] ?? camelCased(entry)["parametersJsonSchema"];
      if (typeof entry["name"] !== "string" || typeof schema !== "object" || schema === null) return [];
      return [{ name: entry["name"], description: str(entry["description"]), inputSchema: lowered(schema) as JsonObject }];
    });
  });
}

/** Gemini writes types in capitals. */
function lowered(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowered);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "type" && typeof value === "string" ? value.toLowerCase() : lowered(value),
    ]),
  );
}

function mediaOf(type: "image" | "file", address: string, otherwise: string): Content {
  const [, mediaType, data] = /^data:([^;,]+)[^,]*,(.*)$/s.exec(address) ?? [];
  return { type, mediaType: mediaType ?? otherwise, ...(data === undefined ? { url: address } : { data: restored(data) }) };
}

function inputOf(inputText: string, custom: boolean): { readonly input?: JsonValue } {
  if (custom) return { input: inputText };
  try {
    return { input: inputText === "" ? {} : (JSON.parse(inputText) as JsonValue) };
  } catch {
    return {};
  }
}

function roleOf(role: unknown, parts: readonly Content[]): Role {
  if (role === "assistant") return "assistant";
  return parts.length > 0 && parts.every((part) => part.type === "tool-result") ? "tool" : "user";
}

function textPart(text: string): Content[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function textIn(value: unknown): string {
  return typeof value === "string"
    ? value
    : listOf(value)
        .map((part) => str(part["text"]))
        .join("\n");
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}

function str(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function camelCased(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()), value]),
  );
}
