import { inboxLog, sessionLog, type EventLog, type SessionId } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { openAsking } from "./asking-scenario.ts";
import { normalisedLog } from "./normalised-log.ts";
import { sample } from "./sample.ts";
import { SESSION } from "./scenario.ts";
import { faultsAfter, simulateLives } from "./simulated-lives.ts";

/** What people were asked by tools, and how often they answered each of those questions. */
async function answeredQuestions(log: EventLog): Promise<ReadonlyMap<string, number>> {
  const messages = new Map<string, string>();
  for await (const { type, data } of log.read(sessionLog(SESSION as SessionId)))
    if (type === "approval-request" && data["asked"] !== undefined)
      messages.set(data["nonce"] as string, (data["asked"] as { readonly message: string }).message);
  const counts = new Map<string, number>([...messages.values()].map((message) => [message, 0]));
  for await (const { type, key } of log.read(inboxLog(SESSION as SessionId))) {
    const message = type === "decision" ? messages.get(key) : undefined;
    if (message !== undefined) counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  return counts;
}

const ASKED = new Map([
  ["When?", 1],
  ["Outside?", 1],
  ["With chalk?", 1],
  ["With this card?", 1],
  ["To whom?", 0],
]);

const undisturbed = simulateLives({ open: openAsking });
const { passed, finished } = await undisturbed.live();
const expected = {
  normalised: await normalisedLog(undisturbed.log, SESSION),
  effects: undisturbed.effects.read().filter(({ tool }) => tool !== "infer"),
};

async function faultsOfDying(...places: readonly string[]): Promise<readonly string[]> {
  const lives = simulateLives({ open: openAsking });
  for (const place of places) await lives.live(place);
  const { finished: end } = await lives.live();
  const faults = [...(await faultsAfter(lives.log, lives.effects, end, expected))];
  const counts = await answeredQuestions(lives.log);
  for (const [message, times] of ASKED)
    if (counts.get(message) !== times) faults.push(`"${message}" was answered ${counts.get(message)} times`);
  const inferences = lives.effects.read().filter(({ tool }) => tool === "infer").length;
  if (inferences > 1) faults.push(`the model was asked ${inferences} times for a tool`);
  return faults.map((fault) => `${places.join(", ")} (seed ${seed}): ${fault}`);
}

describe("tools that ask people while they run", () => {
  it("get to their end when nothing is in the way, with each question answered once", async () => {
    expect(finished).toMatchObject({ outcome: { reason: "complete" }, unknown: [] });
    expect(await answeredQuestions(undisturbed.log)).toEqual(ASKED);
    expect(undisturbed.effects.read().filter(({ tool }) => tool === "infer")).toHaveLength(1);
    expect(expected.effects.map(({ tool }) => tool)).toEqual(["mark", "pay", "send"]);
  });

  it("get there from each boundary at which their process dies: nobody is asked twice, no inference is paid twice, and no write is repeated [RN-01]", async () => {
    const faults: string[] = [];
    for (const place of passed) faults.push(...(await faultsOfDying(place)));
    expect(faults).toEqual([]);
  });

  it("get there also when it dies at a second one on its way", { timeout: 600_000 }, async () => {
    const pairs: (readonly [string, string])[] = [];
    for (const first of passed) {
      const lives = simulateLives({ open: openAsking });
      await lives.live(first);
      for (const second of (await lives.live()).passed) pairs.push([first, second]);
    }
    const faults: string[] = [];
    const size = sampleSize(`pairs of ${pairs.length} boundaries of tools that ask`, { test: 60, ci: 400, soak: pairs.length });
    for (const pair of sample(pairs, size)) faults.push(...(await faultsOfDying(...pair)));
    expect(faults).toEqual([]);
  });

  it("leave people to find out about a write where it may have done something, and not while it asks before it does anything", async () => {
    const unknown: { [place: string]: readonly string[] } = {};
    for (const place of passed.filter((name) => /^(ask|mark|look|pay|send)\//.test(name))) {
      const lives = simulateLives({ open: openAsking });
      await lives.live(place);
      const { finished: end } = await lives.live();
      if (end !== undefined && end.unknown.length > 0) unknown[place] = end.unknown;
    }
    // Where it died before it could say that nothing happened yet, and where it had its answer.
    const pay = ["pay/asking#0", "pay/asking#1", "pay/before#0", "pay/after#0"];
    expect(Object.keys(unknown)).toEqual([...pay, "send/asking#0", "send/before#0", "send/after#0"]);
  });
});
