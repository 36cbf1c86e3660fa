// A server with one of everything that the protocol knows: what the conformance suite of the Model Context Protocol asks of a server.
// `node --conditions=source examples/mcp-everything/server.ts --port 3000`, or without `--port` over standard input and output.
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createMcpServer, mcpRequest, serveMcpHttp, serveMcpStdio, type ServedPrompt, type McpServer } from "keelson/mcp";
import type { Tool } from "keelson/tools";
import { AUDIO, IMAGE, resources } from "./resources.ts";
import { askingTools } from "./asking-tools.ts";
import { headerTool, schemaTool } from "./described-tools.ts";
import { plainTool } from "./plain-tool.ts";

const image = { type: "image", mediaType: "image/png", data: IMAGE } as const;
const file = (name: string, mediaType: string, text: string) =>
  ({ type: "file", name, mediaType, data: Buffer.from(text).toString("base64") }) as const;

const tools: readonly Tool[] = [
  plainTool("test_simple_text", "Says something.", () => "This is a simple text response for testing."),
  plainTool("test_image_content", "Shows a picture.", () => ({ type: "content", content: [image] })),
  plainTool("test_audio_content", "Plays a sound.", () => ({
    type: "content",
    content: [{ type: "file", mediaType: "audio/wav", data: AUDIO }],
  })),
  plainTool("test_embedded_resource", "Hands over a resource.", () => ({
    type: "content",
    content: [file("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  })),
  plainTool("test_multiple_content_types", "Says, shows and hands over.", () => ({
    type: "content",
    content: [
      { type: "text", text: "Multiple content types test:" },
      image,
      file("test://mixed-content-resource", "application/json", JSON.stringify({ test: "data", value: 123 })),
    ],
  })),
  plainTool("test_tool_with_logging", "Says what it does while it does it.", async (_input, call) => {
    for (const text of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      mcpRequest(call)?.log("info", text);
      await wait(50);
    }
    return "Tool with logging executed successfully";
  }),
  plainTool("test_error_handling", "Fails.", () => {
    throw new Error("This tool intentionally returns an error for testing");
  }),
  plainTool("test_tool_with_progress", "Says how far it is.", async (_input, call) => {
    for (const ratio of [0, 0.5, 1]) {
      call.progress(`${ratio * 100} of 100`, ratio);
      await wait(50);
    }
    return "Tool with progress executed successfully";
  }),
  plainTool("test_missing_capability", "Needs the model of the client.", (_input, call) => {
    mcpRequest(call)?.require("sampling");
    return "The client has a model.";
  }),
  plainTool("test_logging_tool", "Says something beside its result.", (_input, call) => {
    mcpRequest(call)?.log("info", "Said beside the result");
    return "Said.";
  }),
  headerTool,
  schemaTool,
  ...askingTools,
];

const prompts: readonly ServedPrompt[] = [
  { name: "test_simple_prompt", description: "Without arguments.", get: () => "This is a simple prompt for testing." },
  {
    name: "test_prompt_with_arguments",
    description: "With two arguments.",
    arguments: [
      {
        name: "arg1",
        description: "First test argument",
        required: true,
        complete: (value) => ["paris", "park", "party"].filter((word) => word.startsWith(value)),
      },
      { name: "arg2", description: "Second test argument", required: true },
    ],
    get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "With a resource in it.",
    arguments: [{ name: "resourceUri", description: "Which resource", required: true }],
    get: ({ resourceUri = "" }) => [
      {
        role: "user",
        content: [
          file(resourceUri, "text/plain", "Embedded resource content for testing."),
          { type: "text", text: "Please process the embedded resource above." },
        ],
      },
    ],
  },
  {
    name: "test_prompt_with_image",
    description: "With a picture in it.",
    get: () => [{ role: "user", content: [image, { type: "text", text: "Please analyze the image above." }] }],
  },
  {
    name: "test_input_required_result_prompt",
    description: "Asks before it says anything.",
    async get(_given, request) {
      const schema = { type: "object", properties: { context: { type: "string" } }, required: ["context"] };
      const answer = await request.ask({ message: "What context should the prompt use?", schema }, { key: "user_context" });
      return answer.type === "provided" ? `Work with this context: ${JSON.stringify(answer.value)}` : "Work without context.";
    },
  },
];

export function everythingServer(): McpServer {
  const changing: readonly Tool[] = [
    plainTool("test_trigger_tool_change", "Changes the list of tools.", () => {
      server.setTools([...offered].reverse());
      return "Changed.";
    }),
    plainTool("test_trigger_prompt_change", "Changes the list of prompts.", () => {
      server.setPrompts([...prompts].reverse());
      return "Changed.";
    }),
  ];
  const offered = [...tools, ...changing];
  const server = createMcpServer({
    name: "keelson-everything",
    version: "1.0.0",
    instructions: "For tests: it has one of everything.",
    tools: offered,
    resources,
    prompts,
    onError: (error) => console.error(error.message),
  });
  return server;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: "string" }, token: { type: "string" } } });
  if (values.port === undefined) await (await serveMcpStdio(everythingServer())).closed;
  else {
    const { url } = await serveMcpHttp(everythingServer(), { port: Number(values.port), authenticate: values.token });
    console.log(url);
  }
}
