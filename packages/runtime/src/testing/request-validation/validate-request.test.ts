import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { BROKEN_REQUESTS, GOOD_REQUESTS, type Json } from "./broken-requests.ts";
import { validateRequest, VALIDATED_WIRES, type ValidatedWire } from "./validate-request.ts";

const shared = process.env["KEELSON_SHARED"] ?? resolve(import.meta.dirname, "../../../../../../shared");
const folder = resolve(shared, "fixtures/wire");

describe.each(VALIDATED_WIRES)("the validator of %s requests", (wire) => {
  it("accepts a good conversation", () => {
    expect(validateRequest(wire, GOOD_REQUESTS[wire](), { model: "a-model" })).toEqual([]);
  });

  it("knows at least 15 ways to break one", () => {
    expect(BROKEN_REQUESTS[wire].length).toBeGreaterThanOrEqual(15);
  });

  it.each(BROKEN_REQUESTS[wire])("refuses $title", ({ path, spoil, model }) => {
    const request: Json = structuredClone(GOOD_REQUESTS[wire]());
    spoil(request);
    const problems = validateRequest(wire, request, model === undefined ? {} : { model });
    expect(problems.filter((problem) => problem.path.startsWith(path))).not.toEqual([]);
  });

  it("refuses what is no request at all", () => {
    for (const body of [null, "text", [], 7]) expect(validateRequest(wire, body)).not.toEqual([]);
  });
});

/** Requests that servers took although OpenAI, or the vendor's page, says otherwise. */
const TAKEN_ALL_THE_SAME: { readonly [id: string]: string } = {
  "anthropic-messages.dd-trace-py.anthropic-completion-tools-call-with-tool-result-stream-helper.0": "a result that names another call",
  "huggingface.pydantic-ai.test-simple-completion.0": "an empty list of tools",
  "llamacpp.rig.image-tool-result.a-tool-result-image-is-read-by-the-model.0": "an image in a tool message",
  "openrouter.req-llm.mistralai-devstral-small-2505.tool-round-trip-2.0":
    "an id over 40 characters (its response is an error under status 200)",
  "zai.req-llm.glm-4-5-air.tool-round-trip-2.0": "a tool message without an id",
};

describe.skipIf(!existsSync(folder))("of the recorded requests that servers took", () => {
  it("the validators accept at least 99 %", () => {
    const counts = new Map<string, { taken: number; refused: string[] }>();
    for (const provider of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
      for (const file of readdirSync(resolve(folder, provider.name))) {
        const fixture = JSON.parse(readFileSync(resolve(folder, provider.name, file), "utf8")) as Json;
        if (fixture.response.status !== 200 || fixture.request.body === null || !VALIDATED_WIRES.includes(fixture.wire)) continue;
        const model = /(?:models|deployments)\/([^:/]+)/.exec(fixture.request.path)?.[1];
        const problems = validateRequest(fixture.wire as ValidatedWire, fixture.request.body, model === undefined ? {} : { model });
        const count = counts.get(fixture.wire) ?? { taken: 0, refused: [] };
        counts.set(fixture.wire, count);
        count.taken += 1;
        if (problems.length > 0) count.refused.push(fixture.id);
      }
    }
    const all = [...counts.values()];
    const refused = all.flatMap((count) => count.refused);
    expect(refused.toSorted()).toEqual(Object.keys(TAKEN_ALL_THE_SAME).toSorted());
    const taken = all.reduce((sum, count) => sum + count.taken, 0);
    expect(taken).toBeGreaterThan(600);
    expect(1 - refused.length / taken).toBeGreaterThanOrEqual(0.99);
    expect(counts.size).toBe(VALIDATED_WIRES.length);
  });
});
