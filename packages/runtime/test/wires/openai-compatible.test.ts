import { textMessage } from "@keelson/protocol";
import { infer } from "keelson/providers";
import { createOpenAiCompatibleProvider } from "keelson/providers/openai-compatible";
import { describe, expect, it } from "vitest";
import { checkResponse, DOUBTFUL } from "./expected-response.ts";
import { deliveries, type Recording, recordings, recordingsNote, recordingsThere, replay } from "./recordings.ts";

const all = recordings(({ wire }) => wire === "openai-chat");

async function responseOf(recording: Recording, chunks: readonly Buffer[]): Promise<unknown> {
  const provider = createOpenAiCompatibleProvider({
    vendor: recording.provider,
    apiKey: "test",
    baseUrl: "http://stub.invalid/v1",
    fetch: replay(recording, chunks),
  });
  return infer(provider, { model: recording.expect.model ?? "a-model", messages: [textMessage("user", "hi")] }).catch(
    (error: unknown) => error,
  );
}

describe.skipIf(!recordingsThere)(`recorded responses of all who speak the chat wire${recordingsNote}`, () => {
  it("are all there, and under one in a hundred is an exception [PV-03]", () => {
    expect(all).toHaveLength(393);
    expect(Object.keys(DOUBTFUL).length / all.length).toBeLessThan(0.01);
  });

  it.each(all.map((recording) => ({ id: recording.id, recording })))(
    "$id decodes as expected, whole and cut at random [PV-03, PV-04, PV-09]",
    async ({ recording }) => {
      for (const chunks of deliveries(recording, 3)) checkResponse(recording, await responseOf(recording, chunks));
    },
  );
});
