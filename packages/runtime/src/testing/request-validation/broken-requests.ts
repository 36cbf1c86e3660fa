import type { ValidatedWire } from "./validate-request.ts";

/** A request with one thing wrong in it: what is wrong, where, and how to get there from the good one. */
export interface BrokenRequest {
  readonly title: string;
  /** Begins the path of the problem that must be found. */
  readonly path: string;
  // The corpus is written as JSON by hand; its shapes are the vendors'.
  readonly spoil: (good: Json) => void;
  readonly model?: string;
}

/** Any JSON, open for spoiling. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

/** A conversation of two calls and their results on each wire, as its API takes it. */
export const GOOD_REQUESTS: { readonly [wire in ValidatedWire]: () => Json } = {
  "anthropic-messages": () => ({
    model: "claude-sonnet-5",
    max_tokens: 4096,
    stream: true,
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    thinking: { type: "enabled", budget_tokens: 2048 },
    tools: [{ name: "weather", description: "The weather", input_schema: schema }],
    tool_choice: { type: "auto" },
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Weather in Rome and Oslo?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "QQ==" } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Two calls.", signature: "c2ln" },
          { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Rome" } },
          { type: "tool_use", id: "toolu_2", name: "weather", input: { city: "Oslo" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: "warm" },
          { type: "tool_result", tool_use_id: "toolu_2", content: [{ type: "text", text: "cold" }], is_error: true },
          { type: "text", text: "Be quick." },
        ],
      },
    ],
  }),
  "openai-chat": () => ({
    model: "gpt-5",
    stream: true,
    stream_options: { include_usage: true },
    tools: [{ type: "function", function: { name: "weather", description: "The weather", parameters: schema } }],
    tool_choice: "auto",
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Weather?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,QQ==" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "weather", arguments: `{"city":"Rome"}` } },
          { id: "call_2", type: "custom", custom: { name: "shell", input: "ls" } },
        ],
      },
      { role: "tool", tool_call_id: "call_2", content: "files" },
      { role: "tool", tool_call_id: "call_1", content: "warm" },
      { role: "assistant", content: "It is warm." },
      { role: "user", content: "Thanks" },
    ],
  }),
  "openai-responses": () => ({
    model: "gpt-5",
    stream: true,
    store: false,
    instructions: "Be brief.",
    include: ["reasoning.encrypted_content"],
    tools: [{ type: "function", name: "weather", parameters: schema, strict: false }],
    tool_choice: "auto",
    input: [
      {
        role: "user",
        content: [
          { type: "input_text", text: "Weather?" },
          { type: "input_image", image_url: "data:image/png;base64,QQ==" },
        ],
      },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "ZW5j" },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "weather", arguments: `{"city":"Rome"}` },
      { type: "custom_tool_call", call_id: "call_2", name: "shell", input: "ls" },
      { type: "function_call_output", call_id: "call_1", output: "warm" },
      { type: "custom_tool_call_output", call_id: "call_2", output: "files" },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Warm.", annotations: [] }],
      },
      { role: "user", content: "Thanks" },
    ],
  }),
  "gemini": () => ({
    systemInstruction: { parts: [{ text: "Be brief." }] },
    generationConfig: { maxOutputTokens: 1000, temperature: 1 },
    tools: [
      {
        functionDeclarations: [
          { name: "weather", description: "The weather", parameters: { type: "OBJECT", properties: { city: { type: "STRING" } } } },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: "AUTO" } },
    contents: [
      { role: "user", parts: [{ text: "Weather?" }, { inlineData: { mimeType: "image/png", data: "QQ==" } }] },
      {
        role: "model",
        parts: [
          { functionCall: { id: "a", name: "weather", args: { city: "Rome" } }, thoughtSignature: "c2ln" },
          { functionCall: { id: "b", name: "weather", args: { city: "Oslo" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "a", name: "weather", response: { output: "warm" } } },
          { functionResponse: { id: "b", name: "weather", response: { output: "cold" } } },
        ],
      },
    ],
  }),
  "ollama-chat": () => ({
    model: "qwen3",
    stream: true,
    think: true,
    options: { num_predict: 100 },
    tools: [{ type: "function", function: { name: "weather", description: "The weather", parameters: schema } }],
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Weather?", images: ["QQ=="] },
      {
        role: "assistant",
        content: "",
        thinking: "Two calls.",
        tool_calls: [{ function: { name: "weather", arguments: { city: "Rome" } } }, { function: { name: "look", arguments: {} } }],
      },
      { role: "tool", tool_name: "weather", content: "warm" },
      { role: "tool", tool_name: "look", content: "rain" },
      { role: "assistant", content: "Warm." },
      { role: "user", content: "Thanks" },
    ],
  }),
};

const broken = (title: string, path: string, spoil: (good: Json) => void, model?: string): BrokenRequest => ({
  title,
  path,
  spoil,
  ...(model !== undefined && { model }),
});

/** Requests that each API would refuse, and why. */
export const BROKEN_REQUESTS: { readonly [wire in ValidatedWire]: readonly BrokenRequest[] } = {
  "anthropic-messages": [
    broken("no model", "model", (r) => delete r.model),
    broken("no limit of the response", "max_tokens", (r) => delete r.max_tokens),
    broken("a field of another API", "functions", (r) => (r.functions = [])),
    broken("no messages", "messages", (r) => (r.messages = [])),
    broken("the assistant first", "messages[0].role", (r) => r.messages.shift()),
    broken("a system message among the others", "messages[1].role", (r) => r.messages.splice(1, 0, { role: "system", content: "x" })),
    broken("an empty user message", "messages[0].content", (r) => (r.messages[0].content = "")),
    broken("a message of blanks", "messages[0].content", (r) => (r.messages[0].content = " \n")),
    broken("no blocks", "messages[0].content", (r) => (r.messages[0].content = [])),
    broken("an empty text block", "messages[0].content[0].text", (r) => (r.messages[0].content[0].text = " ")),
    broken("an image of no source", "messages[0].content[1].source", (r) => delete r.messages[0].content[1].source),
    broken("an image of the assistant", "messages[1].content[0].type", (r) => r.messages[1].content.unshift(r.messages[0].content[1])),
    broken("thinking without its signature", "messages[1].content[0].signature", (r) => delete r.messages[1].content[0].signature),
    broken("thinking of the user", "messages[0].content[0].type", (r) => r.messages[0].content.unshift(r.messages[1].content[0])),
    broken(
      "redacted thinking without data",
      "messages[1].content[0].data",
      (r) => (r.messages[1].content[0] = { type: "redacted_thinking", data: "" }),
    ),
    broken("thinking at the end of a response", "messages[1]", (r) => r.messages[1].content.push(r.messages[1].content[0])),
    broken("an open tool loop that lost its thinking", "messages[1]", (r) => r.messages[1].content.shift()),
    broken(
      "an id with a colon",
      "messages[1].content[1].id",
      (r) => (r.messages[1].content[1].id = r.messages[2].content[0].tool_use_id = "call:1"),
    ),
    broken("one id for two calls", "messages[1]", (r) => {
      r.messages[1].content[2].id = r.messages[2].content[1].tool_use_id = "toolu_1";
    }),
    broken("input that is no object", "messages[1].content[1].input", (r) => (r.messages[1].content[1].input = `{"city":"Rome"}`)),
    broken("a call without its result", "messages[2]", (r) => r.messages[2].content.splice(1, 1)),
    broken("a result given twice", "messages[2]", (r) => r.messages[2].content.push(r.messages[2].content[0])),
    broken("a result of no call", "messages[2]", (r) => (r.messages[2].content[0].tool_use_id = "toolu_9")),
    broken("text before the results", "messages[2]", (r) => r.messages[2].content.unshift(r.messages[2].content.pop())),
    broken("calls at the end", "messages[1]", (r) => r.messages.pop()),
    broken("a call of the user", "messages[2].content[3].type", (r) => r.messages[2].content.push(r.messages[1].content[1])),
    broken("an unknown block", "messages[0].content[0].type", (r) => (r.messages[0].content[0] = { type: "input_text", text: "x" })),
    broken("a final assistant message that ends in a blank", "messages[3]", (r) => r.messages.push({ role: "assistant", content: "So " })),
    broken("a budget over the limit", "max_tokens", (r) => (r.max_tokens = 2000)),
    broken("a forced call while thinking", "tool_choice", (r) => (r.tool_choice = { type: "any" })),
    broken("a temperature while thinking", "temperature", (r) => (r.temperature = 0.5)),
    broken("a choice of a tool there isn't", "tool_choice.name", (r) => {
      delete r.thinking;
      r.tool_choice = { type: "tool", name: "look" };
    }),
    broken("a choice among no tools", "tool_choice", (r) => delete r.tools),
    broken("two tools of one name", "tools", (r) => r.tools.push(r.tools[0])),
    broken("a tool name with blanks", "tools[0].name", (r) => (r.tools[0].name = "the weather")),
    broken("a tool whose schema is no object", "tools[0].input_schema.type", (r) => (r.tools[0].input_schema = { type: "string" })),
    broken("five cache marks", "", (r) => {
      for (const block of [...r.messages[0].content, ...r.messages[2].content]) block.cache_control = { type: "ephemeral" };
    }),
    broken("an empty system block", "system[0].text", (r) => (r.system[0].text = "")),
    broken("half an emoji in a message", "messages[0].content[0].text", (r) => (r.messages[0].content[0].text = "\uD83D")),
    broken(
      "half an emoji in a key of arguments",
      "messages[1].content[1].input",
      (r) => (r.messages[1].content[1].input = { "\uDE00": 1 }),
    ),
    broken("a call of a name with a dot", "messages[1].content[1].name", (r) => (r.messages[1].content[1].name = "functions.weather")),
    broken("alternatives at the top of a schema", "tools[0].input_schema.anyOf", (r) => {
      r.tools[0].input_schema = { type: "object", anyOf: [schema] };
    }),
    broken("a property key with brackets", "tools[0].input_schema.properties.filter[status]", (r) => {
      r.tools[0].input_schema = { type: "object", properties: { "filter[status]": { type: "string" } } };
    }),
    broken("a keyword of draft 4", "tools[0].input_schema.properties.n.exclusiveMinimum", (r) => {
      r.tools[0].input_schema = { type: "object", properties: { n: { type: "number", minimum: 1, exclusiveMinimum: true } } };
    }),
    broken("a reference that leads nowhere", "tools[0].input_schema.properties.a.$ref", (r) => {
      r.tools[0].input_schema = { type: "object", properties: { a: { $ref: "#/$defs/none" } } };
    }),
    broken("an image of a type that does not exist", "messages[0].content[1].source.media_type", (r) => {
      r.messages[0].content[1].source.media_type = "image/jpg";
    }),
    broken("an image of another type than its bytes", "messages[0].content[1].source.media_type", (r) => {
      r.messages[0].content[1].source = { type: "base64", media_type: "image/png", data: "/9j/4AAQSkZJRg==" };
    }),
  ],
  "openai-chat": [
    broken("no model", "model", (r) => delete r.model),
    broken("no messages", "messages", (r) => (r.messages = [])),
    broken("an unknown role", "messages[1].role", (r) => (r.messages[1].role = "human")),
    broken("no content where nothing is called", "messages[5].content", (r) => (r.messages[5].content = null)),
    broken("an empty list of parts", "messages[1].content", (r) => (r.messages[1].content = [])),
    broken("an empty text part", "messages[1].content[0].text", (r) => (r.messages[1].content[0].text = "")),
    broken("a part of another API", "messages[1].content[0].type", (r) => (r.messages[1].content[0] = { type: "input_text", text: "x" })),
    broken("an image that is no address", "messages[1].content[1].image_url.url", (r) => (r.messages[1].content[1].image_url.url = "QQ==")),
    broken("an image of the assistant", "messages[5].content[0].type", (r) => (r.messages[5].content = [r.messages[1].content[1]])),
    broken("an empty list of calls", "messages[5].tool_calls", (r) => (r.messages[5].tool_calls = [])),
    broken("a call without an id", "messages[2].tool_calls[0].id", (r) => (r.messages[2].tool_calls[0].id = "")),
    broken("an id of 41 characters", "messages[2].tool_calls[0].id", (r) => {
      r.messages[2].tool_calls[0].id = r.messages[4].tool_call_id = "c".repeat(41);
    }),
    broken("one id for two calls", "messages[2].tool_calls[1].id", (r) => (r.messages[2].tool_calls[1].id = "call_1")),
    broken("a call of no type", "messages[2].tool_calls[0].type", (r) => delete r.messages[2].tool_calls[0].type),
    broken(
      "arguments that are an object",
      "messages[2].tool_calls[0].function.arguments",
      (r) => (r.messages[2].tool_calls[0].function.arguments = {}),
    ),
    broken(
      "arguments that are no JSON",
      "messages[2].tool_calls[0].function.arguments",
      (r) => (r.messages[2].tool_calls[0].function.arguments = `{"city`),
    ),
    broken("a call without a name", "messages[2].tool_calls[0].function.name", (r) => delete r.messages[2].tool_calls[0].function.name),
    broken("a call without its result", "messages[4]", (r) => r.messages.splice(4, 1)),
    broken("a message between calls and results", "messages[3]", (r) => r.messages.splice(3, 0, { role: "user", content: "wait" })),
    broken("a result given twice", "messages[5]", (r) => r.messages.splice(5, 0, r.messages[4])),
    broken("a result of no call", "messages[3]", (r) => (r.messages[3].tool_call_id = "call_9")),
    broken("a result first", "messages[0]", (r) => r.messages.splice(0, 3)),
    broken("a result without content", "messages[3].content", (r) => delete r.messages[3].content),
    broken("calls at the end", "messages[3]", (r) => r.messages.splice(3)),
    broken("calls of the user", "messages[6].tool_calls", (r) => (r.messages[6].tool_calls = r.messages[2].tool_calls)),
    broken("a result of a function that was not called", "messages[6]", (r) =>
      r.messages.splice(6, 0, { role: "function", name: "weather", content: "warm" }),
    ),
    broken("a choice among no tools", "tool_choice", (r) => delete r.tools),
    broken("a choice of a tool there isn't", "tool_choice", (r) => (r.tool_choice = { type: "function", function: { name: "look" } })),
    broken("two tools of one name", "tools", (r) => r.tools.push(r.tools[0])),
    broken("an empty list of tools", "tools", (r) => (r.tools = [])),
    broken("a schema that is no object", "tools[0].function.parameters.type", (r) => (r.tools[0].function.parameters = { type: "array" })),
    broken("stream options without a stream", "stream_options", (r) => delete r.stream),
    broken("a schema of a name with blanks", "response_format.json_schema.name", (r) => {
      r.response_format = { type: "json_schema", json_schema: { name: "a b", schema } };
    }),
    broken("half an emoji in arguments", "messages[2].tool_calls[0].function.arguments", (r) => {
      r.messages[2].tool_calls[0].function.arguments = String.raw`{"city":"\ud83d"}`;
    }),
    broken("a call of a name with blanks", "messages[2].tool_calls[0].function.name", (r) => {
      r.messages[2].tool_calls[0].function.name = "ls -la";
    }),
    broken("alternatives at the top of a schema", "tools[0].function.parameters.oneOf", (r) => {
      r.tools[0].function.parameters = { ...schema, oneOf: [schema] };
    }),
    broken("a list without items", "tools[0].function.parameters.properties.a", (r) => {
      r.tools[0].function.parameters = { type: "object", properties: { a: { type: "array" } } };
    }),
    broken("a pattern with lookaround", "tools[0].function.parameters.properties.a.pattern", (r) => {
      r.tools[0].function.parameters = { type: "object", properties: { a: { type: "string", pattern: "^(?=x)" } } };
    }),
    broken("an image of a type that does not exist", "messages[1].content[1].image_url.url", (r) => {
      r.messages[1].content[1].image_url.url = "data:image/jpg;base64,QQ==";
    }),
  ],
  "openai-responses": [
    broken("no model", "model", (r) => delete r.model),
    broken("no input", "input", (r) => delete r.input),
    broken("an empty input", "input", (r) => (r.input = [])),
    broken("messages of the other API", "messages", (r) => (r.messages = r.input)),
    broken("a role of the other API", "input[4].role", (r) => (r.input[4] = { role: "tool", content: "warm" })),
    broken("an item of no type", "input[0].type", (r) => (r.input[0] = { content: "x" })),
    broken("a part of the other API", "input[0].content[0].type", (r) => (r.input[0].content[0].type = "text")),
    broken("input text of the assistant", "input[6].content[0].type", (r) => (r.input[6].content[0].type = "input_text")),
    broken("output text of the user", "input[0].content[0].type", (r) => (r.input[0].content[0].type = "output_text")),
    broken("an image that is no address", "input[0].content[1].image_url", (r) => (r.input[0].content[1].image_url = "QQ==")),
    broken("a call without its output", "input", (r) => r.input.splice(4, 1)),
    broken("an output of no call", "input[4]", (r) => (r.input[4].call_id = "call_9")),
    broken("an output before its call", "input[0]", (r) => r.input.unshift(r.input.splice(4, 1)[0])),
    broken("a call with two results", "input[5]", (r) => r.input.splice(5, 0, r.input[4])),
    broken("a call with a result of another kind", "input[5]", (r) => (r.input[5].type = "function_call_output")),
    broken("an id of 65 characters", "input[2].call_id", (r) => (r.input[2].call_id = r.input[4].call_id = "c".repeat(65))),
    broken("one id for two calls", "input[3].call_id", (r) => (r.input[3].call_id = r.input[5].call_id = "call_1")),
    broken("the id of a call as that of its item", "input[2].id", (r) => (r.input[2].id = "call_1")),
    broken("a foreign id on a message", "input[6].id", (r) => (r.input[6].id = "resp_1")),
    broken("arguments that are an object", "input[2].arguments", (r) => (r.input[2].arguments = {})),
    broken("a call without a name", "input[2].name", (r) => delete r.input[2].name),
    broken("reasoning without its content", "input[1]", (r) => delete r.input[1].encrypted_content),
    broken("reasoning without a summary", "input[1].summary", (r) => delete r.input[1].summary),
    broken("reasoning whose item is gone", "input[1]", (r) => r.input.splice(2, 5)),
    broken("reasoning at the end", "input[8]", (r) => r.input.push(r.input[1])),
    broken("an output of nothing", "input[4].output", (r) => (r.input[4].output = null)),
    broken("two tools of one name", "tools", (r) => r.tools.push(r.tools[0])),
    broken("a choice of a tool there isn't", "tool_choice", (r) => (r.tool_choice = { type: "function", name: "look" })),
    broken("a schema that is no object", "tools[0].parameters.type", (r) => (r.tools[0].parameters = { type: "string" })),
    broken("a format without a name", "text.format.name", (r) => (r.text = { format: { type: "json_schema", schema } })),
    broken("half an emoji in the instructions", "instructions", (r) => (r.instructions = "\uD83D")),
    broken("a call of a name with a dot", "input[2].name", (r) => (r.input[2].name = "functions.weather")),
    broken("a schema without properties", "tools[0].parameters", (r) => (r.tools[0].parameters = { type: "object" })),
    broken("an image of a type that does not exist", "input[0].content[1].image_url", (r) => {
      r.input[0].content[1].image_url = "data:image/jpg;base64,QQ==";
    }),
  ],
  "gemini": [
    broken("no contents", "contents", (r) => (r.contents = [])),
    broken("messages of another API", "messages", (r) => (r.messages = [])),
    broken("a role of another API", "contents[1].role", (r) => (r.contents[1].role = "assistant")),
    broken("a system turn", "contents[0].role", (r) => (r.contents[0].role = "system")),
    broken("the model first", "contents[0].role", (r) => r.contents.shift()),
    broken("no parts", "contents[0].parts", (r) => (r.contents[0].parts = [])),
    broken("an empty part", "contents[0].parts[0]", (r) => (r.contents[0].parts[0] = {})),
    broken("an empty text", "contents[0].parts[0].text", (r) => (r.contents[0].parts[0].text = "")),
    broken("two kinds of data in one part", "contents[1].parts[0]", (r) => (r.contents[1].parts[0].text = "x")),
    broken(
      "an image without its type",
      "contents[0].parts[1].inlineData.mimeType",
      (r) => delete r.contents[0].parts[1].inlineData.mimeType,
    ),
    broken(
      "arguments that are a string",
      "contents[1].parts[0].functionCall.args",
      (r) => (r.contents[1].parts[0].functionCall.args = "{}"),
    ),
    broken("a call without a name", "contents[1].parts[0].functionCall.name", (r) => delete r.contents[1].parts[0].functionCall.name),
    broken("fewer responses than calls", "contents[1]", (r) => r.contents[2].parts.pop()),
    broken("more responses than calls", "contents[1]", (r) => r.contents[2].parts.push(r.contents[2].parts[0])),
    broken("a response of another function", "contents[1]", (r) => (r.contents[2].parts[0].functionResponse.name = "look")),
    broken("a response of another id", "contents[1]", (r) => (r.contents[2].parts[0].functionResponse.id = "c")),
    broken("one id for two calls", "contents[1]", (r) => {
      r.contents[1].parts[1].functionCall.id = r.contents[2].parts[1].functionResponse.id = "a";
    }),
    broken("calls at the end", "contents[1]", (r) => r.contents.pop()),
    broken("calls without results", "contents[2]", (r) => r.contents.splice(2, 1, { role: "model", parts: [{ text: "x" }] })),
    broken("responses to nothing", "contents[0]", (r) => r.contents.splice(0, 2)),
    broken(
      "a response that is a string",
      "contents[2].parts[0].functionResponse.response",
      (r) => (r.contents[2].parts[0].functionResponse.response = "warm"),
    ),
    broken("a response of the model", "contents[2].parts[0]", (r) => (r.contents[2].role = "model")),
    broken("an empty signature", "contents[1].parts[0].thoughtSignature", (r) => (r.contents[1].parts[0].thoughtSignature = "")),
    broken("a lost signature", "contents[1]", (r) => delete r.contents[1].parts[0].thoughtSignature, "gemini-3-pro"),
    broken("two functions of one name", "tools", (r) => r.tools[0].functionDeclarations.push(r.tools[0].functionDeclarations[0])),
    broken("a keyword that Schema lacks", "tools[0].functionDeclarations[0].parameters.additionalProperties", (r) => {
      r.tools[0].functionDeclarations[0].parameters.additionalProperties = false;
    }),
    broken("a required property that isn't there", "tools[0].functionDeclarations[0].parameters.required", (r) => {
      r.tools[0].functionDeclarations[0].parameters.required = ["town"];
    }),
    broken(
      "an unknown mode of calling",
      "toolConfig.functionCallingConfig.mode",
      (r) => (r.toolConfig.functionCallingConfig.mode = "required"),
    ),
    broken("an empty system instruction", "systemInstruction.parts", (r) => (r.systemInstruction.parts = [])),
    broken("half an emoji in a response", "contents[2].parts[0].functionResponse.response.output", (r) => {
      r.contents[2].parts[0].functionResponse.response.output = "\uDE00";
    }),
    broken("a function that begins with a digit", "tools[0].functionDeclarations[0].name", (r) => {
      r.tools[0].functionDeclarations[0].name = "1weather";
    }),
    broken("a list without items", "tools[0].functionDeclarations[0].parameters.properties.city.items", (r) => {
      r.tools[0].functionDeclarations[0].parameters.properties.city = { type: "ARRAY" };
    }),
    broken("numbers to choose from", "tools[0].functionDeclarations[0].parameters.properties.city.enum", (r) => {
      r.tools[0].functionDeclarations[0].parameters.properties.city = { type: "INTEGER", enum: [1] };
    }),
    broken("a schema without a type", "tools[0].functionDeclarations[0].parameters.properties.city.type", (r) => {
      r.tools[0].functionDeclarations[0].parameters.properties.city = {};
    }),
    broken("arguments that nest too deep", "contents[1].parts[0].functionCall.args", (r) => {
      r.contents[1].parts[0].functionCall.args = JSON.parse(`${`{"a":`.repeat(40)}1${"}".repeat(40)}`);
    }),
    broken("an image of a type that it does not read", "contents[0].parts[1].inlineData.mimeType", (r) => {
      r.contents[0].parts[1].inlineData.mimeType = "image/jpg";
    }),
  ],
  "ollama-chat": [
    broken("no model", "model", (r) => delete r.model),
    broken("a field of another API", "max_tokens", (r) => (r.max_tokens = 5)),
    broken("no messages", "messages", (r) => (r.messages = [])),
    broken("an unknown role", "messages[1].role", (r) => (r.messages[1].role = "developer")),
    broken("content in parts", "messages[1].content", (r) => (r.messages[1].content = [{ type: "text", text: "x" }])),
    broken("an empty message", "messages[6].content", (r) => (r.messages[6].content = "")),
    broken("an image that is an address", "messages[1].images[0]", (r) => (r.messages[1].images = ["https://example.com/a.png"])),
    broken("an image that is a data URL", "messages[1].images[0]", (r) => (r.messages[1].images = ["data:image/png;base64,QQ=="])),
    broken(
      "arguments that are a string",
      "messages[2].tool_calls[0].function.arguments",
      (r) => (r.messages[2].tool_calls[0].function.arguments = "{}"),
    ),
    broken("a call without a name", "messages[2].tool_calls[0].function.name", (r) => delete r.messages[2].tool_calls[0].function.name),
    broken("a call without a function", "messages[2].tool_calls[0].function", (r) => (r.messages[2].tool_calls[0] = { name: "weather" })),
    broken("a call without its result", "messages[4]", (r) => r.messages.splice(4, 1)),
    broken("a result given twice", "messages[5]", (r) => r.messages.splice(5, 0, r.messages[4])),
    broken("a result of no call", "messages[3]", (r) => (r.messages[3].tool_name = "search")),
    broken("a result first", "messages[0]", (r) => r.messages.splice(0, 3)),
    broken("a message between calls and results", "messages[3]", (r) => r.messages.splice(3, 0, { role: "user", content: "wait" })),
    broken("calls at the end", "messages[3]", (r) => r.messages.splice(3)),
    broken("calls of the user", "messages[6].tool_calls", (r) => (r.messages[6].tool_calls = r.messages[2].tool_calls)),
    broken("an unknown level of thinking", "think", (r) => (r.think = "max")),
    broken("an unknown format", "format", (r) => (r.format = "xml")),
    broken("options that are a list", "options", (r) => (r.options = [])),
    broken("two tools of one name", "tools", (r) => r.tools.push(r.tools[0])),
    broken(
      "a tool that is described beside its function",
      "tools[0].function",
      (r) => (r.tools[0] = { type: "function", name: "weather" }),
    ),
    broken("half an emoji in a message", "messages[1].content", (r) => (r.messages[1].content = "a\uD83D")),
    broken("a schema that is true", "tools[0].function.parameters.properties.a", (r) => {
      r.tools[0].function.parameters = { type: "object", properties: { a: true } };
    }),
    broken("a description that is a number", "tools[0].function.parameters.properties.a.description", (r) => {
      r.tools[0].function.parameters = { type: "object", properties: { a: { type: "string", description: 7 } } };
    }),
    broken("a reference", "tools[0].function.parameters.properties.a.$ref", (r) => {
      r.tools[0].function.parameters = { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: {} } };
    }),
  ],
};
