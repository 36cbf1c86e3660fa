import { type InferRequest, type InferResponse, type Message, textMessage, type ToolSchema } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { infer, textOf } from "../infer.ts";
import { createOllamaProvider } from "../ollama.ts";
import { createOpenAiCompatibleProvider, type OpenAiCompatibleOptions } from "../openai-compatible.ts";
import type { CallMarkupName } from "./call-markup.ts";

const tools: readonly ToolSchema[] = [
  {
    name: "read_file",
    description: "Reads a file.",
    inputSchema: { type: "object", properties: { path: { type: "string" }, lines: { type: "integer" }, all: { type: "boolean" } } },
  },
  { name: "list", description: "Lists.", inputSchema: { type: "object" } },
];
const json = '{"path":"a.ts","lines":2}';
const READ = { name: "read_file", input: { path: "a.ts", lines: 2 } };
const LIST = { name: "list", input: {} };

const MARKUPS: readonly (readonly [CallMarkupName, string, readonly object[]])[] = [
  [
    "hermes",
    `\n<tool_call>\n{"name": "read_file", "arguments": ${json}}\n</tool_call>\n<tool_call>{"name":"list","arguments":{}}</tool_call>`,
    [READ, LIST],
  ],
  ["hermes", `<tool_call>{"name": "read_file", "arguments": ${json}}`, [READ]],
  [
    "qwen-xml",
    "<tool_call>\n<function=read_file>\n<parameter=path>\na.ts\n</parameter>\n<parameter=lines>\n2\n</parameter>\n</function>\n</tool_call>",
    [READ],
  ],
  [
    "qwen-xml",
    "<function=read_file><parameter=path>a <b>\n</parameter><parameter=all>True</parameter></function>",
    [{ name: "read_file", input: { path: "a <b>", all: true } }],
  ],
  [
    "kimi",
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>${json}<|tool_call_end|><|tool_call_begin|>functions.list:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>`,
    [READ, LIST],
  ],
  ["deepseek", `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>${json}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, [READ]],
  [
    "deepseek",
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n\`\`\`json\n${json}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    [READ],
  ],
  ["harmony", `<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>${json}<|call|>`, [READ]],
  ["harmony", `<|start|>assistant<|channel|>commentary to=functions.read_file<|message|>${json}`, [READ]],
  ["python-tag", `<|python_tag|>{"name": "read_file", "parameters": ${json}}<|eom_id|>`, [READ]],
  ["mistral", `[TOOL_CALLS][{"name": "read_file", "arguments": ${json}}, {"name": "list", "arguments": {}}]`, [READ, LIST]],
  ["mistral", `[TOOL_CALLS]read_file[ARGS]${json}`, [READ]],
];

interface Asked {
  readonly options?: Partial<OpenAiCompatibleOptions>;
  readonly request?: Partial<InferRequest>;
  readonly finish?: string;
  readonly more?: object;
}

async function responseTo(text: string, { options, request, finish = "stop", more }: Asked = {}): Promise<InferResponse> {
  const pieces = [...text].map((content) => ({ content }));
  const chunks = [...pieces, more ?? {}].map((delta, at) => ({
    choices: [{ index: 0, delta, finish_reason: at === pieces.length ? finish : null }],
  }));
  const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  const provider = createOpenAiCompatibleProvider({
    vendor: "vllm",
    baseUrl: "http://stub/v1",
    fetch: async () => new Response(body),
    ...options,
  });
  return infer(provider, { model: "m", messages: [textMessage("user", "hi")], tools, ...request });
}
const callsOf = ({ toolCalls }: InferResponse): unknown => toolCalls.map(({ name, input }) => ({ name, input }));
const HERMES = `<tool_call>{"name":"read_file","arguments":${json}}</tool_call>`;

describe("a tool call that a server left in the text", () => {
  it.each(MARKUPS)("is a call if it is all of the text: %s %s", async (kind, text, calls) => {
    const response = await responseTo(text, { options: { vendor: "other", quirks: { callMarkup: [kind] } } });
    expect([callsOf(response), textOf(response), response.stopReason]).toEqual([calls, "", "tool-use"]);
    expect(callsOf(await responseTo(text))).toEqual(calls);
    const line = JSON.stringify({ model: "m", message: { role: "assistant", content: text }, done: true, done_reason: "stop" });
    const ollama = createOllamaProvider({ fetch: async () => new Response(line) });
    expect(callsOf(await infer(ollama, { model: "m", messages: [textMessage("user", "hi")], tools }))).toEqual(calls);
    const plain = await responseTo(text, { options: { vendor: "other" } });
    expect([callsOf(plain), textOf(plain), plain.stopReason]).toEqual([[], text, "end-turn"]);
  });

  it.each([
    ["has words before it", `I read it.\n${HERMES}`],
    ["has words behind it", `${HERMES}\nDone.`],
    ["is in a fence", `\`\`\`\n${HERMES}\n\`\`\``],
    ["names a tool that is not offered", HERMES.replace("read_file", "remove_file")],
    ["is not whole", HERMES.slice(0, -20)],
    ["has members that no call has", HERMES.replace('"name"', '"note":1,"name"')],
    ["has a number that a double changes", HERMES.replace(":2}", ":1917043659912705296}")],
    ["is code", '<|python_tag|>read_file.call(path="a.ts")'],
  ])("stays text if it %s", async (_, text) => {
    const response = await responseTo(text);
    expect([callsOf(response), textOf(response), response.stopReason]).toEqual([[], text, "end-turn"]);
  });

  it("stays text if the response is cut off, no tool may be called, or a real call comes beside it", async () => {
    expect(callsOf(await responseTo(HERMES, { finish: "length" }))).toEqual([]);
    expect(callsOf(await responseTo(HERMES, { request: { toolChoice: "none" } }))).toEqual([]);
    expect(callsOf(await responseTo(HERMES, { request: { tools: [] } }))).toEqual([]);
    const more = { tool_calls: [{ index: 0, id: "a", function: { name: "list", arguments: "{}" } }] };
    const response = await responseTo(HERMES, { more, finish: "tool_calls" });
    expect([callsOf(response), textOf(response)]).toEqual([[LIST], HERMES]);
  });

  it.each([
    ["a message", HERMES],
    ["other spaces", HERMES.replace("{", "\n { ")],
    ["entities of HTML", HERMES.replaceAll("<", "&lt;").replaceAll(">", "&gt;")],
    ["other arguments", "<tool_call>{}</tool_call>"],
  ])("stays text if the model may repeat it from what it was given: %s", async (_, page) => {
    const result = (output: string): Message => ({
      role: "tool",
      content: [{ type: "tool-result", id: "c" as never, name: "fetch", output, isError: false } as never],
    });
    for (const given of [textMessage("user", page), result(page)]) {
      const response = await responseTo(HERMES, { request: { messages: [textMessage("user", "hi"), given] } });
      expect([callsOf(response), textOf(response)]).toEqual([[], HERMES]);
    }
  });

  it("does not delay other texts, not even those that begin like markup", async () => {
    for (const text of ["Hello <tool_call>", "<to", "<tool", "[TODO] x", " \n"]) expect(textOf(await responseTo(text))).toBe(text);
  });
});
