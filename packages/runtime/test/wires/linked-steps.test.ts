import type { JsonObject } from "@keelson/protocol";
import { validateRequest } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { linkedChat, linkedResponses } from "./linked-openai.ts";
import { type LinkedStep, linkedSteps, type LinkedWire, ownTurn, recordedTurn } from "./linked-steps.ts";
import { recordings, recordingsNote, recordingsThere } from "./recordings.ts";

/** Wires that take part, with the number of their linked steps: another joins with a line here. */
const WIRES: readonly { readonly wire: LinkedWire; readonly steps: number; readonly withBlocks: number }[] = [
  { wire: linkedResponses, steps: 41, withBlocks: 39 },
  { wire: linkedChat, steps: 66, withBlocks: 66 },
];

/** Steps whose client did not send the response back as it was; each was looked at. */
const CHANGED_BY_CLIENT: { readonly [id: string]: string } = {
  "openai-responses.pydantic-ai.test-background-mode-with-tool-vcr.2": "the response was queued, and the client polled what it became",
  "groq.rig.prompt-caching.streaming-probe.2": "the response was cut off while the model thought, and the client wrote a text of its own",
};

/** Clients write JSON anew, and quotes and dashes in ASCII; recordings leave long encrypted reasoning out. */
function plain(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text
      .replace(/[\u2018\u2019]/g, "'")
      .replace(/[\u201c\u201d]/g, '"')
      .replaceAll("\u2014", "--")
      .replaceAll("\u2013", "-");
  }
}

/** What the vendor would refuse. Some of the recorded responses were stored with him, and only OpenAI itself bounds the ids of calls. */
function problems({ before }: LinkedStep, { wire }: LinkedWire, body: JsonObject): readonly unknown[] {
  const stored = before.response.body.includes('"store":true') || before.response.body.includes('"store": true');
  const found = validateRequest(wire, stored ? { ...body, store: true } : body);
  return before.provider === "openai-chat" ? found : found.filter(({ message }) => message !== "is longer than 40 characters");
}

async function check(wire: LinkedWire, step: LinkedStep): Promise<void> {
  const needed = recordedTurn(wire, step);
  const { blocks: ours, body } = await ownTurn(wire, step);
  expect(problems(step, wire, body)).toEqual([]);
  if (needed.text !== "") expect(plain(ours.text)).toBe(plain(needed.text));
  if (needed.calls.length > 0)
    expect(ours.calls.map(({ name, input }) => ({ name, input }))).toEqual(needed.calls.map(({ name, input }) => ({ name, input })));
  for (const [at, { id }] of needed.calls.entries()) {
    const vendors = step.before.expect.tool_calls.map((call) => call.id);
    // Where the client made up another id, ours is the vendor's; where the recording hides the id, Mistral refuses what stands for it.
    if (vendors.includes(id) && !(step.before.provider === "mistral" && id.includes("REDACTED"))) expect(ours.calls[at]?.id).toBe(id);
  }
  if (needed.reasoning !== "") expect(ours.reasoning).toBe(needed.reasoning);
  expect(ours.sealed.length).toBeGreaterThanOrEqual(needed.sealed.length);
  for (const sealed of needed.sealed) if (!sealed.startsWith("<base64 omitted")) expect(ours.sealed).toContain(sealed);
}

describe.skipIf(!recordingsThere).each(WIRES)(
  `$wire.wire: what goes back as the turn of the assistant${recordingsNote}`,
  ({ wire, steps, withBlocks }) => {
    const linked = linkedSteps(recordings((recording) => recording.wire === wire.wire));

    it("is compared for all linked steps", () => {
      const blocks = linked
        .map((step) => recordedTurn(wire, step))
        .filter(({ text, calls, reasoning, sealed }) => text !== "" || calls.length > 0 || reasoning !== "" || sealed.length > 0);
      expect({ steps: linked.length, withBlocks: blocks.length }).toEqual({ steps, withBlocks });
    });

    it.each(linked.filter(({ id }) => !Object.hasOwn(CHANGED_BY_CLIENT, id)))(
      "carries every block that the recorded request of $id needs",
      async (step) => {
        await check(wire, step);
      },
    );
  },
);
