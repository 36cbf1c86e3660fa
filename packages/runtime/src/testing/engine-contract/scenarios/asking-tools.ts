import { textMessage, type InferRequest, type JsonValue, type ToolAnswer, type ToolCall } from "@keelson/protocol";
import type { EngineScenario } from "../engine-scenario.ts";
import { call, oneAgent } from "./one-agent.ts";

const about = "tools that ask";

/** What a tool asks a person, as its output. */
async function toldWhen(_input: JsonValue, { ask }: ToolCall): Promise<JsonValue> {
  const schema = { type: "object", properties: { hour: { type: "integer" } }, required: ["hour"] };
  const answer: ToolAnswer | undefined = await ask?.({ message: "When?", schema });
  return answer?.type === "provided" ? answer.value : (answer?.type ?? "nobody was asked");
}

/** Says what the last call came to. */
function told({ messages }: InferRequest): string {
  const [part] = messages.at(-1)?.content ?? [];
  return JSON.stringify(part?.type === "tool-result" ? part.output : null);
}

export const ASKING_TOOLS: readonly EngineScenario[] = [
  oneAgent({
    name: "a-read-that-asks",
    about,
    options: (kit) => ({
      model: kit.model([call("look"), told]),
      tools: [kit.tool("look", "read", { output: toldWhen })],
    }),
    acts: [{ type: "decide", tool: "look", decision: { type: "supply", output: { hour: 7 } } }],
    ends: { reason: "complete", text: '{"hour":7}' },
  }),
  oneAgent({
    name: "an-idempotent-call-that-is-told-no",
    about,
    options: (kit) => ({
      model: kit.model([call("mark"), told]),
      tools: [kit.tool("mark", "idempotent", { output: toldWhen })],
      permissions: { mode: "bypass-all" },
    }),
    acts: [{ type: "decide", tool: "mark", decision: { type: "deny" } }],
    ends: { reason: "complete", text: '"declined"' },
  }),
  oneAgent({
    name: "a-question-that-nobody-answers",
    about,
    options: (kit) => ({ model: kit.model([call("look"), "never"]), tools: [kit.tool("look", "read", { output: toldWhen })] }),
    ends: { reason: "awaiting-decision" },
  }),
  oneAgent({
    name: "a-tool-that-asks-the-model",
    about,
    options: (kit) => ({
      model: kit.model([({ tools = [] }) => (tools.length === 0 ? "It is short." : call("look")), told]),
      tools: [
        kit.tool("look", "read", {
          async output(_input, { infer }) {
            const answer = await infer?.({ messages: [textMessage("user", "Sum up.")], maxTokens: 50 });
            const [part] = answer?.type === "response" ? answer.content : [];
            return part?.type === "text" ? part.text : "no model answered";
          },
        }),
      ],
      permissions: { rules: [{ pattern: "infer(look)", behavior: "allow" }] },
    }),
    ends: { reason: "complete", text: '"It is short."' },
  }),
];
