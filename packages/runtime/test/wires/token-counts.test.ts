import { calibrateTokens, inputTokenBound } from "keelson/providers";
import type { Message } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { outputBoundOf, OUTPUT_OF_WIRE, type OutputMembers } from "../../src/providers/output-bound.ts";
import { countedRecordings } from "./counted-recordings.ts";
import { recordingsNote, recordingsThere } from "./recordings.ts";

describe.skipIf(!recordingsThere)(`the tokens of recorded requests${recordingsNote}`, () => {
  const all = countedRecordings();

  it("are never more than the upper bound", () => {
    const passed = all.filter(
      ({ recording, request, usage }) =>
        inputTokenBound(request, { wire: recording.wire, model: request.model }) < (usage.inputTokens ?? 0),
    );
    expect(passed.map(({ recording }) => recording.id)).toEqual([]);
    expect(all.length).toBeGreaterThan(650);
  });

  it("of output are never more than what may be billed, thinking included, wherever something bounds them", () => {
    let bounded = 0;
    const passed = all.filter(({ recording, request, usage }) => {
      const bound = outputBoundOf(request, request.model, OUTPUT_OF_WIRE[recording.wire] as OutputMembers);
      if (bound !== null) bounded += 1;
      return bound !== null && Math.max(usage.outputTokens ?? 0, usage.reasoningTokens ?? 0) > bound;
    });
    expect(passed.map(({ recording }) => recording.id)).toEqual([]);
    expect(bounded).toBeGreaterThan(250);
  });

  it("are bounded by less than their bytes where images are, and by the window where much text is", () => {
    const data = "A".repeat(4_000_000);
    const target = { wire: "anthropic-messages", model: "claude-sonnet-5" };
    const image: Message = { role: "user", content: [{ type: "image", mediaType: "image/png", data }] };
    expect(inputTokenBound({ model: "claude-sonnet-5", messages: [image] }, target)).toBeLessThan(10_000);
    const text: Message = { role: "user", content: [{ type: "text", text: data }] };
    expect(inputTokenBound({ model: "claude-sonnet-5", messages: [text] }, target)).toBe(1_100_000);
    expect(inputTokenBound({ model: "claude-sonnet-5", messages: [text] }, { ...target, contextWindow: 200_000 })).toBe(220_000);
  });

  it("are estimated within 10 % by nine of ten estimates that earlier reports of the model stand behind", () => {
    const calibration = calibrateTokens();
    const seen = new Set<string>();
    const off: string[] = [];
    let repeated = 0;
    let calibrated = 0;
    for (const { recording, request, usage } of all) {
      const target = { wire: recording.wire, model: `${recording.provider}/${request.model}` };
      const { tokens, calibrated: sure } = calibration.estimate(request, target);
      if (seen.has(target.model)) repeated += 1;
      if (sure) {
        calibrated += 1;
        const told = usage.inputTokens ?? 0;
        if (Math.abs(tokens - told) > 0.1 * told) off.push(`${recording.id}: ${tokens} for ${told}`);
      }
      seen.add(target.model);
      calibration.report(request, target, usage);
    }
    expect(calibrated).toBeGreaterThan(0.25 * repeated);
    expect(1 - off.length / calibrated, off.join("\n")).toBeGreaterThanOrEqual(0.9);
  });
});
