import { snapshotLog, type EventLog } from "@keelson/protocol";
import { createAgent } from "keelson";
import { slidingWindow } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { sampleSize } from "../../../../test/tier.ts";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

const WINDOW = 40;
/** A turn has nine records, and a snapshot is due after 500. */
const MOST_RECORDS = 560;

const look = recordingTool("look", { effect: "read", output: () => "a page of text" });

/** An agent that looks in each of its turns but the last. */
function reader(turns: number) {
  let calls = 0;
  const turn: ScriptedTurn = () => (++calls < turns ? { toolCalls: [{ name: "look", input: { page: calls } }] } : "Read.");
  return createAgent({
    name: "reader",
    model: scriptedModel(Array.from({ length: turns }, () => turn)),
    tools: [look],
    limits: { maxTurns: turns, maxModelCalls: 2 * turns, maxToolCalls: turns },
    loopGuard: false,
    compaction: { strategy: slidingWindow({ keep: WINDOW / 2 }), when: { maxMessages: WINDOW } },
  });
}

/** Makes a session of so many turns, and returns the number of records that each way to open it reads. */
async function recordsReadToOpen(turns: number): Promise<Readonly<Record<string, number>>> {
  const services = sharedServices();
  const { log } = services;
  expect((await runnerOf(reader(turns), services).run("Read it all.", { session: "s" }).outcome).turns).toBe(turns);
  expect(await log.head(snapshotLog("s"))).toBeGreaterThanOrEqual(Math.floor((turns * 4) / 500));
  let records = 0;
  const counted: EventLog = {
    ...log,
    async *read(id, options) {
      for await (const record of log.read(id, options)) {
        records++;
        yield record;
      }
    },
  };
  const open = () => runnerOf(reader(1), { ...services, log: counted });
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    "a look at the session": () => open().sessions.get("s"),
    "a new run": () => open().run("And again.", { session: "s" }).outcome,
    "the beginning of a new run": () => open().begin("s", "Once more."),
    "an advance of it": () => open().advance("s"),
  };
  const read: Record<string, number> = {};
  for (const [way, act] of Object.entries(ways)) {
    records = 0;
    await act();
    read[way] = records;
  }
  return read;
}

describe("opening a long session", () => {
  it("reads a number of records that does not grow with its turns", async () => {
    const turns = sampleSize("turns of a session that is opened", { test: 1000, ci: 2000, soak: 10_000 });
    for (const length of [turns / 10, turns]) {
      const read = await recordsReadToOpen(length);
      for (const [way, records] of Object.entries(read)) expect(records, way).toBeLessThanOrEqual(MOST_RECORDS);
    }
  }, 600_000);
});
