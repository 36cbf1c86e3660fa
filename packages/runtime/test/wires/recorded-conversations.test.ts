import type { Content, Message } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { infer } from "../../src/providers/infer.ts";
import { type DecodedRequest, decodeRequest, modelOf } from "./decode-request.ts";
import { type Recording, recordings, recordingsNote, recordingsThere } from "./recordings.ts";
import { RequestMaker, type Target, TARGETS } from "./targets.ts";

/** The messages of the request, and the response that came, as our own client decodes it. */
async function conversationOf(recording: Recording): Promise<DecodedRequest | undefined> {
  const decoded = decodeRequest(recording);
  if (decoded === undefined) return undefined;
  const response = await responseOf(recording);
  const messages = [...decoded.messages, ...(response === undefined ? [] : [{ role: "assistant", content: response } as Message])];
  return { ...decoded, messages, tools: [...new Map(decoded.tools.map((tool) => [tool.name, tool])).values()] };
}

let responses = 0;
async function responseOf(recording: Recording): Promise<readonly Content[] | undefined> {
  const source = TARGETS.find((target) => target.wire === recording.wire) as Target;
  const provider = source.create({
    apiKey: "test",
    ...(source.wire !== "ollama-chat" && { baseUrl: "http://stub.invalid/v1" }),
    fetch: async () => new Response(recording.response.body, { status: 200 }),
  });
  const response = await infer(provider, { model: modelOf(recording), messages: [] }).catch(() => undefined);
  // The loop gives calls ids of its own.
  return response?.content.map((part) => (part.type === "tool-call" ? { ...part, id: `c_answer_${responses++}` as typeof part.id } : part));
}

describe.skipIf(!recordingsThere)(`every recorded conversation, cut after each message${recordingsNote}`, () => {
  const all = recordings(({ response, request }) => response.status === 200 && request.body !== null);
  it.each(TARGETS)("makes requests that $name takes", async (target) => {
    const maker = new RequestMaker(target);
    const refused: { id: string; cut: number; problems: unknown }[] = [];
    let requests = 0;
    for (const recording of all) {
      const conversation = await conversationOf(recording);
      if (conversation === undefined) continue;
      const { system, messages, tools } = conversation;
      const identity = {};
      for (let cut = 1; cut <= messages.length; cut += 1) {
        requests += 1;
        const request = { messages: messages.slice(0, cut), ...(system !== undefined && { system }), tools };
        const problems = await maker.problems(request, identity, { stored: recording.request.body?.["store"] !== false });
        if (problems.length > 0) refused.push({ id: recording.id, cut, problems });
      }
    }
    expect(requests).toBeGreaterThan(1000);
    expect(refused).toEqual([]);
  });
});
