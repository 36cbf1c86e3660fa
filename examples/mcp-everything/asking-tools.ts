import { mcpRequest } from "keelson/mcp";
import type { Tool, ToolCall } from "keelson/tools";
import { plainTool } from "./plain-tool.ts";

type Schema = { readonly [name: string]: unknown };
const form = (properties: { readonly [name: string]: Schema }, required: readonly string[] = Object.keys(properties)) =>
  JSON.parse(JSON.stringify({ type: "object", properties, required }));
const text = { type: "string" };
const say = (prompt: string) => [{ role: "user", content: [{ type: "text", text: prompt }] }] as const;

/** The request that the call is for: these tools have nothing to do elsewhere. */
function requestOf(call: ToolCall) {
  const request = mcpRequest(call);
  if (request === undefined) throw new Error("This tool asks a client, and there is none.");
  return request;
}

async function fill(call: ToolCall, message: string, schema: object): Promise<string> {
  const answer = await requestOf(call).ask({ message, schema: JSON.parse(JSON.stringify(schema)) });
  if (answer.type === "provided") return `Elicitation completed: action=accept, content=${JSON.stringify(answer.value)}`;
  return `Elicitation completed: action=${answer.type}, content={}`;
}

const choices = (...titles: readonly string[]) => titles.map((title, index) => ({ const: `value${index + 1}`, title }));

export const askingTools: readonly Tool[] = [
  plainTool(
    "test_sampling",
    "Has the model of the client answer.",
    async ({ prompt }, call) => {
      const answer = await requestOf(call).infer({ messages: say(String(prompt)), maxTokens: 100 });
      if (answer.type === "refused") throw new Error(answer.reason);
      return `LLM response: ${answer.content.map((part) => (part.type === "text" ? part.text : "")).join("")}`;
    },
    { prompt: { type: "string", description: "The prompt to send to the LLM" } },
  ),
  plainTool(
    "test_elicitation",
    "Asks the person at the client.",
    async ({ message }, call) => {
      const schema = form({
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      });
      const answer = await requestOf(call).ask({ message: String(message), schema });
      if (answer.type === "provided") return `User response: action: accept, content: ${JSON.stringify(answer.value)}`;
      return `User response: action: ${answer.type}`;
    },
    { message: { type: "string", description: "The message to show the user" } },
  ),
  plainTool("test_streaming_elicitation", "Says that it asks, and asks.", async (_input, call) => {
    call.progress("asks");
    const answer = await requestOf(call).ask({ message: "May it go on?", schema: form({ ok: { type: "boolean" } }) });
    return answer.type;
  }),
  plainTool("test_elicitation_sep1034_defaults", "Asks with a suggestion for each member.", (_input, call) =>
    fill(
      call,
      "Please review and update the form fields with defaults",
      form(
        {
          name: { type: "string", description: "User name", default: "John Doe" },
          age: { type: "integer", description: "User age", default: 30 },
          score: { type: "number", description: "User score", default: 95.5 },
          status: { type: "string", description: "User status", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", description: "Verification status", default: true },
        },
        [],
      ),
    ),
  ),
  plainTool("test_elicitation_sep1330_enums", "Asks for choices in each form there is.", (_input, call) =>
    fill(
      call,
      "Please select options from the enum fields",
      form(
        {
          untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
          titledSingle: { type: "string", oneOf: choices("First Option", "Second Option", "Third Option") },
          legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
          untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
          titledMulti: { type: "array", items: { anyOf: choices("First Choice", "Second Choice", "Third Choice") } },
        },
        [],
      ),
    ),
  ),
  plainTool("test_input_required_result_elicitation", "Asks for a name.", async (_input, call) => {
    const answer = await requestOf(call).ask({ message: "What is your name?", schema: form({ name: text }) }, { key: "user_name" });
    return answer.type === "provided" ? `Hello, ${(answer.value as { name: string }).name}!` : "Hello!";
  }),
  plainTool("test_input_required_result_sampling", "Asks a model.", async (_input, call) => {
    const answer = await requestOf(call).infer(
      { messages: say("What is the capital of France?"), maxTokens: 100 },
      { key: "capital_question" },
    );
    return JSON.stringify(answer);
  }),
  plainTool("test_input_required_result_list_roots", "Asks for folders.", async (_input, call) => {
    const roots = await requestOf(call).roots({ key: "client_roots" });
    return `The client works in ${(roots ?? []).map(({ uri }) => uri).join(", ")}`;
  }),
  plainTool("test_input_required_result_request_state", "Asks, and remembers that it did.", async (_input, call) => {
    await requestOf(call).ask({ message: "Please confirm", schema: form({ ok: { type: "boolean" } }) }, { key: "confirm" });
    return "state-ok";
  }),
  plainTool("test_input_required_result_multiple_inputs", "Asks for three things at once.", async (_input, call) => {
    const request = requestOf(call);
    const [name, greeting, roots] = await Promise.all([
      request.ask({ message: "What is your name?", schema: form({ name: text }) }, { key: "user_name" }),
      request.infer({ messages: say("Generate a greeting"), maxTokens: 50 }, { key: "greeting" }),
      request.roots({ key: "client_roots" }),
    ]);
    return JSON.stringify({ name, greeting, roots: roots ?? null });
  }),
  plainTool("test_input_required_result_multi_round", "Asks one thing after the other.", async (_input, call) => {
    const request = requestOf(call);
    const name = await request.ask({ message: "Step 1: What is your name?", schema: form({ name: text }) }, { key: "step1" });
    const color = await request.ask({ message: "Step 2: What is your favorite color?", schema: form({ color: text }) }, { key: "step2" });
    return JSON.stringify({ name, color });
  }),
  plainTool("test_input_required_result_tampered_state", "Asks, and notices who changes what it remembers.", async (_input, call) => {
    const answer = await requestOf(call).ask({ message: "Please confirm", schema: form({ ok: { type: "boolean" } }) }, { key: "confirm" });
    return JSON.stringify(answer);
  }),
  plainTool("test_input_required_result_capabilities", "Asks for what the client offers.", async (_input, call) => {
    const request = requestOf(call);
    const asked = await Promise.all([
      ...(request.offers.forms ? [request.ask({ message: "What is your name?", schema: form({ name: text }) })] : []),
      ...(request.offers.sampling ? [request.infer({ messages: say("Say hello"), maxTokens: 50 })] : []),
    ]);
    return JSON.stringify(asked);
  }),
];
