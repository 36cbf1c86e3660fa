import { readFileSync } from "node:fs";
import { xrayRequest } from "keelson/context";
import { describe, expect, it } from "vitest";
import { type CountedRecording, countedRecordings } from "./counted-recordings.ts";
import { recordingsNote, recordingsThere } from "./recordings.ts";
import { type CountError, countErrors, errorTable, isTextOnly, quantile, targetOf } from "./token-count-errors.ts";

/** Below this, what vendors add is most of what they count. */
const LARGE = 500;
const FOLDS = 20;
const page = readFileSync(new URL("../../../../docs/evidence/token-counts-2026-11-24.md", import.meta.url), "utf8");

const conversationOf = ({ recording: { conversation, id } }: CountedRecording): string => conversation ?? id;
const sourceOf = ({ recording: { id, provider } }: CountedRecording): string => id.slice(provider.length + 1).split(".")[0] as string;
const isLarge = ({ told }: CountError): boolean => told > LARGE;

describe.skipIf(!recordingsThere)(`the counts of recorded requests of text${recordingsNote}`, async () => {
  const text = countedRecordings().filter(isTextOnly);
  const conversations = [...new Set(text.map(conversationOf))].toSorted();
  const foldOf = new Map(conversations.map((name, at) => [name, String(at % FOLDS)]));
  const errors = await countErrors(text, (counted) => foldOf.get(conversationOf(counted)) as string);
  const byWire = Map.groupBy(errors.filter(isLarge), ({ wire, exact }) => `${wire} ${exact ? "exactly" : "by calibration"}`);

  it("are at most 3 % off in the median with the model's tokenizer, and at most 15 % by what was reported of other conversations", () => {
    expect([...byWire.keys()].toSorted()).toEqual([
      "anthropic-messages by calibration",
      "ollama-chat by calibration",
      "openai-chat by calibration",
      "openai-chat exactly",
      "openai-responses exactly",
    ]);
    for (const [name, of] of byWire) expect([name, quantile(of, 0.5) <= (name.endsWith("exactly") ? 0.03 : 0.15)]).toEqual([name, true]);
  });

  it("are as the page of evidence tells", async () => {
    expect(page).toContain(errorTable(errors.filter(isLarge)).join("\n"));
    expect(page).toContain(errorTable(errors).join("\n"));
    expect(page).toContain(errorTable((await countErrors(text, sourceOf)).filter(isLarge)).join("\n"));
  });

  it("come, with what the vendor adds, to exactly what he reported", async () => {
    const all = countedRecordings();
    const wrong: string[] = [];
    for (const counted of all) {
      const { request, usage, recording } = counted;
      const { tokens, parts, reported } = await xrayRequest(request, { target: targetOf(counted), usage });
      const sum = parts.reduce((soFar, part) => soFar + part.tokens, 0);
      if (!reported || tokens !== usage.inputTokens || sum !== tokens) wrong.push(recording.id);
    }
    expect(wrong).toEqual([]);
    expect(all.length).toBeGreaterThan(650);
  });

  it("are exact to the token where messages of text are all there is, or one off", () => {
    const plain = text.filter(
      ({ request: { tools = [], output, messages }, recording }) =>
        tools.length === 0 &&
        output === undefined &&
        recording.provider === "openai-chat" &&
        messages.every(({ content }) => content.every(({ type }) => type === "text")),
    );
    const ids = new Set(plain.map(({ recording }) => recording.id));
    const exact = errors.filter(({ id, exact: isExact }) => isExact && ids.has(id));
    expect(exact.length).toBeGreaterThan(25);
    const right = exact.filter(({ told, tokens }) => Math.abs(told - tokens) <= 1);
    expect(right.length / exact.length).toBeGreaterThan(0.85);
  });
});
