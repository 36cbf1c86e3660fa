import { type InferRequest, textMessage, type ToolSchema } from "@keelson/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ChatRequestEncoder } from "./chat-request.ts";

const newEncoder = (): ChatRequestEncoder =>
  new ChatRequestEncoder({ wire: "openai-chat", provider: "openai", defaultModel: "m", maxTokensField: "max_tokens" });
const bodyOf = (encoder: ChatRequestEncoder, request: InferRequest): string => Buffer.concat(encoder.encode(request, {})).toString();
const toolNamed = (name: string): ToolSchema => ({ name, description: "d", inputSchema: { type: "object" } });

const look = toolNamed("look");
const tools = [[], [look], [look, toolNamed("write")]];
const choices = [{ name: "look" }, "none"] as const;
const outputs = ["a", "b"].map((name) => ({ name, schema: { type: "object" } }));
const members = {
  model: fc.constantFrom("m", "gpt-5.2", ""),
  system: fc.constantFrom("", "be brief", "be kind"),
  tools: fc.constantFrom(...tools),
  maxTokens: fc.constantFrom(1, 2),
  temperature: fc.constantFrom(0, 1),
  topP: fc.constantFrom(0, 1),
  stopSequences: fc.constantFrom(["x"], ["y"]),
  effort: fc.constantFrom("low" as const, "high" as const),
  thinking: fc.constantFrom({ type: "disabled" as const }, { type: "adaptive" as const }),
  toolChoice: fc.constantFrom(...choices),
  output: fc.constantFrom(...outputs),
  extra: fc.constantFrom({ seed: 1 }, { messages: [] }, { tools: [{ type: "web" }] }),
};
const MEMBERS = Object.keys(members);
const request = fc.record(members, { requiredKeys: ["model"] });

it("encodes each request as if it were the first, whatever the one before it asked for", () => {
  fc.assert(
    fc.property(request, request, fc.nat(MEMBERS.length - 1), (first, other, at) => {
      const encoder = newEncoder();
      // Near neighbours are the ones to be mistaken for each other.
      const name = MEMBERS[at] as keyof typeof other;
      const near = { ...first, [name]: other[name] };
      for (const each of [first, near, first, other]) {
        const asked = { ...each, messages: [textMessage("user", "hi")] } as InferRequest;
        expect(bodyOf(encoder, asked)).toBe(bodyOf(newEncoder(), asked));
      }
    }),
    {
      numRuns: 500,
      // Few models obey the one without the other.
      examples: [
        [
          { model: "gpt-5.2", thinking: { type: "disabled" } },
          { model: "gpt-5.2", thinking: { type: "adaptive" } },
          MEMBERS.indexOf("thinking"),
        ],
      ],
    },
  );
});

it("notices that a list of tools, or what `extra` holds, was changed in its place", () => {
  const encoder = newEncoder();
  const list = [look];
  const extra = { seed: 1 };
  const asked: InferRequest = { model: "m", tools: list, messages: [textMessage("user", "hi")] };
  bodyOf(encoder, asked);
  list[0] = toolNamed("write");
  expect(JSON.parse(bodyOf(encoder, asked)).tools[0].function.name).toBe("write");
  bodyOf(encoder, { ...asked, extra });
  extra.seed = 2;
  expect(JSON.parse(bodyOf(encoder, { ...asked, extra })).seed).toBe(2);
});
