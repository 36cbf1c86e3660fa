import { type EventLog, type SessionId, sessionLog } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createAgent } from "../../src/index.ts";
import type { ScriptedResponse } from "../../src/testing/scripted-model.ts";
import { normalisedLog } from "./normalised-log.ts";
import { type OpenRunner, openRunner, scriptByTurn, SESSION, tool } from "./scenario.ts";
import { faultsAfter, simulateLives } from "./simulated-lives.ts";

/** The number of responses that the log holds as unusable. */
async function unusable(log: EventLog): Promise<number> {
  let count = 0;
  for await (const { type, data } of log.read(sessionLog(SESSION as SessionId)))
    if (type === "inference-failed" && (data as { readonly unusable?: true }).unusable === true) count++;
  return count;
}

const FAILED: readonly ScriptedResponse[] = [{ text: "half", stopReason: "other" }, { text: " " }];
const send: ScriptedResponse = { toolCalls: [{ name: "send", input: {} }] };

function open(failures: readonly ScriptedResponse[]): OpenRunner {
  return (services) =>
    openRunner(
      services,
      () =>
        createAgent({
          name: "clerk",
          model: scriptByTurn(services.points, "scripted/clerk", async (turn) =>
            turn > 0 ? { text: turn === 1 ? "" : "Done." } : (failures[await unusable(services.log)] ?? send),
          ),
          tools: [tool(services, "send", "write", true)],
        }) as never,
    );
}

describe("a run whose model gives responses that are none", () => {
  it("goes on from every step boundary to the same end, with the same requests", { timeout: 60_000 }, async () => {
    const first = simulateLives({ open: open(FAILED) });
    const { passed, finished } = await first.live();
    expect(finished?.outcome).toMatchObject({ reason: "complete", text: "Done.", turns: 2 });
    const expected = {
      normalised: await normalisedLog(first.log, SESSION),
      effects: first.effects.read().filter(({ tool: name }) => name === "send"),
    };
    expect(await unusable(first.log)).toBe(2);
    const faults: string[] = [];
    for (const place of passed) {
      const lives = simulateLives({ open: open(FAILED) });
      await lives.live(place);
      const { finished: later } = await lives.live();
      for (const fault of await faultsAfter(lives.log, lives.effects, later, expected)) faults.push(`${place}: ${fault}`);
    }
    expect(faults).toEqual([]);
  });

  it("asks for no more responses than the limit, however often its process ends", { timeout: 60_000 }, async () => {
    const always = Array.from({ length: 20 }, () => ({ text: "half", stopReason: "other" as const }));
    const { passed } = await simulateLives({ open: open(always) }).live();
    for (const place of passed) {
      const lives = simulateLives({ open: open(always) });
      await lives.live(place);
      const { finished } = await lives.live();
      expect([place, finished?.outcome.reason, await unusable(lives.log)]).toEqual([place, "error", 3]);
    }
  });
});
