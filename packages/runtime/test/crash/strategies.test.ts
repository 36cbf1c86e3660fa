import { sessionLog, type EventLog, type JsonValue, type SessionId } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { faultsOf, normalisedLog } from "./normalised-log.ts";
import { sample } from "./sample.ts";
import { SESSION } from "./scenario.ts";
import { effectFaults, simulateLives, type SimulatedLives } from "./simulated-lives.ts";
import { openConstrained } from "./strategy-scenario.ts";

async function recorded(log: EventLog, type: string, suffix = ""): Promise<readonly JsonValue[]> {
  const found: JsonValue[] = [];
  for await (const record of log.read(sessionLog(SESSION as SessionId)))
    if (record.type === type && record.key.endsWith(suffix)) found.push(record.data);
  return found;
}

/** The log without what may differ: which number the booking has depends on how often it was asked before its answer was kept. */
async function linesOf(log: EventLog): Promise<readonly string[]> {
  return (await normalisedLog(log, SESSION)).map((line) => JSON.stringify(line).replace(/as number \d/, "as number ?"));
}

async function undisturbed() {
  const lives = simulateLives({ open: openConstrained });
  const { passed, finished } = await lives.live();
  if (finished?.outcome.reason !== "complete")
    throw new Error(`it ended with ${finished?.outcome.reason}: ${finished?.outcome.error?.message}`);
  return { passed, lines: await linesOf(lives.log), effects: lives.effects.read(), log: lives.log };
}
const expected = await undisturbed();

/** One life, and what is wrong with it: a handler whose verdict the log held already must not be asked again. */
async function live(lives: SimulatedLives, until?: string): Promise<readonly string[]> {
  const booked = (): number => lives.effects.read().filter(({ tool }) => tool === "book").length;
  const [decided] = await recorded(lives.log, "decision", "/on-signal");
  const before = booked();
  const { finished } = await lives.live(until);
  const faults: string[] = [];
  if (decided !== undefined && booked() !== before) faults.push("the handler was asked again");
  if (decided !== undefined && JSON.stringify((await recorded(lives.log, "decision", "/on-signal"))[0]) !== JSON.stringify(decided))
    faults.push("what the handler had decided changed");
  if (until === undefined && finished?.outcome.reason !== "complete")
    faults.push(`it ended with ${finished?.outcome.reason}: ${finished?.outcome.error?.message}`);
  return faults;
}

async function faultsAtEnd({ log, effects }: SimulatedLives): Promise<readonly string[]> {
  const lines = await linesOf(log);
  const at = expected.lines.findIndex((line, index) => lines[index] !== line);
  return [
    ...(await faultsOf(log, SESSION)),
    ...(at < 0 && lines.length === expected.lines.length ? [] : [`line ${at} is ${lines[at]}, not ${expected.lines[at]}`]),
    ...effectFaults(
      effects.read().filter(({ tool }) => tool !== "book"),
      expected.effects.filter(({ tool }) => tool !== "book"),
    ),
    ...((await recorded(log, "decision", "/on-signal")).length === 1 ? [] : ["the handler decided more or less than once"]),
  ];
}

describe("a run that is held to a state machine and waits for signals", () => {
  it("moves by tools, by an action and by a signal, and is refused what its state does not have, in the run that proves it", async () => {
    expect((await recorded(expected.log, "strategy-state")).map((data) => (data as { readonly state: string }).state)).toEqual([
      "new",
      "checked",
      "told",
      "frozen",
      "told",
      "paid",
    ]);
    expect((await recorded(expected.log, "tool-result")).filter((data) => (data as { readonly isError: boolean }).isError)).toHaveLength(5);
    expect(expected.passed).toContain("book/after#0");
    expect(expected.passed.filter((place) => place.startsWith("append#")).length).toBeGreaterThan(15);
  });

  it(
    "comes to the same log wherever it is killed: each move, signal and result once, each verdict as it was",
    { timeout: 60_000 },
    async () => {
      const faults: string[] = [];
      for (const place of expected.passed) {
        const lives = simulateLives({ open: openConstrained });
        for (const fault of [...(await live(lives, place)), ...(await live(lives)), ...(await faultsAtEnd(lives))])
          faults.push(`${place}: ${fault}`);
      }
      expect(faults).toEqual([]);
    },
  );

  it("does so when it is killed a second time on its way", { timeout: 600_000 }, async () => {
    const pairs = expected.passed.flatMap((first, index) => expected.passed.slice(index).map((second) => ({ first, second })));
    const faults: string[] = [];
    for (const { first, second } of sample(
      pairs,
      sampleSize(`pairs of ${pairs.length} places in a constrained run`, { test: 60, ci: 500, soak: pairs.length }),
    )) {
      const lives = simulateLives({ open: openConstrained });
      for (const until of [first, second, undefined])
        for (const fault of await live(lives, until)) faults.push(`${first}, ${second} (seed ${seed}): ${fault}`);
      for (const fault of await faultsAtEnd(lives)) faults.push(`${first}, ${second} (seed ${seed}): ${fault}`);
    }
    expect(faults).toEqual([]);
  });
});
