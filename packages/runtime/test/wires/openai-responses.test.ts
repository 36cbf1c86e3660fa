import { textMessage } from "@keelson/protocol";
import type { InferResponse } from "@keelson/protocol";
import { infer } from "keelson/providers";
import { createOpenAiResponsesProvider } from "keelson/providers/openai-responses";
import { describe, expect, it } from "vitest";
import { checkResponse } from "./expected-response.ts";
import { deliveries, type Recording, recordings, recordingsNote, recordingsThere, replay } from "./recordings.ts";

const all = recordings(({ wire }) => wire === "openai-responses");

async function responseOf(recording: Recording, chunks: readonly Buffer[]): Promise<unknown> {
  const provider = createOpenAiResponsesProvider({ apiKey: "test", baseUrl: "http://stub.invalid/v1", fetch: replay(recording, chunks) });
  return infer(provider, { model: recording.expect.model ?? "a-model", messages: [textMessage("user", "hi")] }).catch(
    (error: unknown) => error,
  );
}

/** Every item but messages, reasoning and calls of ours is the server's. */
function checkServerItems({ expect: expected }: Recording, { content }: InferResponse): void {
  const theirs = (expected.item_types ?? []).filter(
    (type) => !["message", "reasoning", "function_call", "custom_tool_call"].includes(type),
  );
  const kept = content.filter((part) => part.type === "server-tool").map((part) => (part.providerData["item"] as { type: string }).type);
  expect(kept.sort()).toEqual(theirs.sort());
  const cited = content.reduce(
    (sum, part) =>
      sum + (part.type === "text" && Array.isArray(part.providerData?.["annotations"]) ? part.providerData["annotations"].length : 0),
    0,
  );
  expect(cited).toBe(expected.annotations ?? 0);
}

describe.skipIf(!recordingsThere)(`recorded responses of the Responses API${recordingsNote}`, () => {
  it("are all there [PV-03]", () => {
    expect(all).toHaveLength(170);
  });

  it.each(all.map((recording) => ({ id: recording.id, recording })))(
    "$id decodes as expected, whole and cut at random [PV-03, PV-04, PV-09]",
    async ({ recording }) => {
      for (const chunks of deliveries(recording, 3)) {
        const response = await responseOf(recording, chunks);
        checkResponse(recording, response);
        if (!(response instanceof Error)) checkServerItems(recording, response as InferResponse);
      }
    },
  );
});
