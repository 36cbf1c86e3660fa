import { type EventLog, type JsonValue, type SessionId, sessionLog } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { foldSession } from "../../src/session/index.ts";
import { faultsOf, normalisedLog } from "./normalised-log.ts";
import { SESSION } from "./scenario.ts";
import { openPlugged } from "./plugins-scenario.ts";
import { simulateLives, type SimulatedLives } from "./simulated-lives.ts";

/** The verdicts of callbacks that the log holds, by their places. */
async function decisions(log: EventLog): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const { type, key, data } of log.read(sessionLog(SESSION as SessionId))) {
    const place = key.slice(key.indexOf("/"));
    if (type === "decision") found.set(place, JSON.stringify(data["value"] ?? null));
    // A verdict that is nothing but a change of state.
    if (type === "state-update" && place.includes("/plugin/") && !place.endsWith("/state"))
      found.set(place, JSON.stringify({ patch: data["patch"] }));
  }
  return found;
}

async function stateIn({ log, blobs }: SimulatedLives): Promise<JsonValue> {
  return (await foldSession(log, blobs, SESSION as SessionId)).agentState;
}

const lonely = simulateLives({ open: openPlugged });
const { passed, finished } = await lonely.live();
const expected = {
  lines: await normalisedLog(lonely.log, SESSION),
  decisions: await decisions(lonely.log),
  state: await stateIn(lonely),
};

describe("a run with plugins and middleware", () => {
  it("uses every callback of both, when it is left alone", () => {
    expect(finished?.outcome.reason).toBe("complete");
    for (const key of ["one", "two"])
      for (const callback of ["beforeRun", "onUserMessage", "onEvent", "afterRun"]) expect(passed).toContain(`${key}-${callback}/after#0`);
    expect(passed).toContain("polite/after#0");
    expect(expected.lines.filter((line) => (line as { type?: string }).type === "compaction").length).toBeGreaterThan(0);
    expect(expected.lines.filter((line) => (line as { type?: string }).type === "directive").length).toBeGreaterThan(8);
    expect(JSON.stringify(expected.state)).toContain("after complete");
  });

  it(
    "comes to the same log and state wherever it stops and goes on, and asks no callback whose verdict is in the log",
    { timeout: 60_000 },
    async () => {
      const faults: string[] = [];
      for (const place of passed) {
        const lives = simulateLives({ open: openPlugged });
        await lives.live(place);
        const before = await decisions(lives.log);
        const askedBefore = lives.effects.read().length;
        const { finished: over } = await lives.live();
        const after = await decisions(lives.log);
        for (const [key, verdict] of before) if (after.get(key) !== verdict) faults.push(`${place}: the verdict at ${key} changed`);
        if ([...after.keys()].join() !== [...expected.decisions.keys()].join())
          faults.push(`${place}: it decided ${[...after.keys()].join()}`);
        const askedNow = lives.effects.read().length - askedBefore;
        const decidedNow = [...after.keys()].filter((key) => !before.has(key));
        // A batch of events is one verdict, whatever number of them the callback was asked about.
        const askedFor = decidedNow.flatMap((key) =>
          key.endsWith("/events") ? (JSON.parse(after.get(key) ?? "").directives ?? []) : [key],
        ).length;
        if (askedNow !== askedFor) faults.push(`${place}: ${askedNow} questions for ${askedFor} verdicts (${decidedNow.join(", ")})`);
        faults.push(...(await faultsOf(lives.log, SESSION)).map((fault) => `${place}: ${fault}`));
        if (over?.outcome.reason !== "complete")
          faults.push(`${place}: it ended with ${over?.outcome.reason}: ${over?.outcome.error?.message}`);
        const lines = (await normalisedLog(lives.log, SESSION)).map((line) => JSON.stringify(line));
        const at = lines.findIndex((line, index) => line !== JSON.stringify(expected.lines[index]));
        if (at >= 0 || lines.length !== expected.lines.length)
          faults.push(
            `${place}: line ${at} is ${lines[at]}, not ${JSON.stringify(expected.lines[at])} (${lines.length}, not ${expected.lines.length})`,
          );
        if (JSON.stringify(await stateIn(lives)) !== JSON.stringify(expected.state)) faults.push(`${place}: the state differs`);
      }
      expect(faults).toEqual([]);
    },
  );
});
