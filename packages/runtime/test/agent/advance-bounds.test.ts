import {
  inboxLog,
  sessionLog,
  snapshotLog,
  textMessage,
  type BlobStore,
  type EventLog,
  type Message,
  type SessionId,
} from "@keelson/protocol";
import { createAgent, type Agent } from "keelson";
import { scriptedModel, type ScriptedResponse } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { sampleSize } from "../../../../test/tier.ts";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

const SESSION = "s" as SessionId;

interface Traffic {
  records: number;
  read: number;
  written: number;
}

/** The stores of one session, and what crosses between them and whoever advances it: the log, the inbox, snapshots and blobs alike. */
function countedStores() {
  const services = sharedServices();
  const { log, blobs } = services;
  const traffic: Traffic = { records: 0, read: 0, written: 0 };
  const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");
  const counted: { readonly log: EventLog; readonly blobs: BlobStore } = {
    log: {
      ...log,
      async append(id, expectedSeq, records, options) {
        traffic.written += bytesOf(records) + bytesOf(options?.summary);
        return log.append(id, expectedSeq, records, options);
      },
      async *read(id, options) {
        for await (const record of log.read(id, options)) {
          traffic.records++;
          traffic.read += bytesOf(record);
          yield record;
        }
      },
    },
    blobs: {
      ...blobs,
      async get(digest, range) {
        const bytes = await blobs.get(digest, range);
        traffic.read += bytes.length;
        return bytes;
      },
      put(bytes) {
        traffic.written += bytes.length;
        return blobs.put(bytes);
      },
    },
  };
  return { services: { ...services, ...counted }, traffic };
}

interface Turn extends Traffic {
  /** Bytes of the messages that the model was shown. */
  readonly request: number;
}

/** Advances a run by so many turns, each with a runner of its own. */
async function advanceTurns(turns: number, agent: (respond: (messages: readonly Message[]) => ScriptedResponse) => Agent) {
  const { services, traffic } = countedStores();
  let request = 0;
  let n = 0;
  const respond = (messages: readonly Message[]): ScriptedResponse => {
    request = Buffer.byteLength(JSON.stringify(messages));
    return { toolCalls: [{ name: "look", input: { n: ++n } }] };
  };
  await runnerOf(agent(respond), services).begin("s", "go");
  const seen: Turn[] = [];
  while (seen.length < turns) {
    Object.assign(traffic, { records: 0, read: 0, written: 0 });
    // Somebody says something at every tenth turn.
    if (seen.length % 10 === 9)
      await services.log.append(inboxLog("s"), "any", [
        { key: `k${seen.length}`, type: "set-model", data: { model: "m", agent: "nobody" } },
      ]);
    const { next } = await runnerOf(agent(respond), services).advance("s");
    expect(next.type).toBe("now");
    seen.push({ ...traffic, request });
  }
  return { seen, services };
}

const look = recordingTool("look", { effect: "read", output: () => "a".repeat(200) });
const limits = { maxTurns: 10_000, maxToolCalls: 10_000, maxModelCalls: 20_000 };
/** A turn has nine records, and a snapshot is due after 500: whatever a turn may cost, one of so many turns in a row does. */
const WINDOW = 60;
const most = (turns: readonly Turn[], of: (turn: Turn) => number): number => Math.max(...turns.map(of));

describe("what one advance reads and writes", () => {
  it("is bounded by the same numbers at turn 10, 200 and 2,000, where the conversation is compacted", async () => {
    const { seen, services } = await advanceTurns(2000, (respond) =>
      createAgent({
        name: "a",
        // It has room for sixty messages.
        model: scriptedModel(
          Array.from(
            { length: 4 },
            () =>
              ({ messages }) =>
                messages.length > 60 ? { error: { kind: "context-overflow" } } : respond(messages),
          ),
        ),
        tools: [look],
        limits,
        loopGuard: false,
        compact: async (entries) => ({
          messages: [textMessage("user", "Go on."), ...entries.slice(-4).map(({ message }) => message)],
          summary: "s",
        }),
      }),
    );
    expect(await services.log.head(sessionLog(SESSION))).toBeGreaterThan(18_000);
    expect(await services.log.head(snapshotLog(SESSION))).toBeGreaterThan(30);
    const windows = [60, 200, 2000].map((turn) => seen.slice(turn - WINDOW, turn));
    for (const window of windows) {
      expect(most(window, ({ records }) => records)).toBeLessThanOrEqual(560);
      expect(most(window, ({ written }) => written)).toBeLessThanOrEqual(64 * 1024);
      // The account of a run names the first thousand calls.
      expect(most(window, ({ read, request }) => read - request)).toBeLessThanOrEqual(256 * 1024);
    }
    // Beyond those, nothing grows with the session.
    const then = seen.slice(1100 - WINDOW, 1100);
    const now = seen.slice(-WINDOW);
    expect(most(now, ({ written }) => written)).toBeLessThanOrEqual(most(then, ({ written }) => written) + 2048);
    expect(most(now, ({ read }) => read)).toBeLessThanOrEqual(most(then, ({ read }) => read) + 8192);
  }, 240_000);

  it("is bounded by the size of the request, where the conversation grows", async () => {
    const turns = sampleSize("turns of a growing conversation", { test: 300, ci: 600, soak: 2000 });
    const { seen } = await advanceTurns(turns, (respond) =>
      createAgent({ name: "a", model: scriptedModel([({ messages }) => respond(messages)]), tools: [look], limits, loopGuard: false }),
    );
    const last = seen.slice(-WINDOW);
    expect(most(last, ({ records }) => records)).toBeLessThanOrEqual(560);
    // The most that is written is a snapshot: what was said in 500 records, and the account, which names the first thousand calls.
    expect(most(last, ({ written }) => written)).toBeLessThanOrEqual(96 * 1024);
    expect(most(last, ({ read, request }) => read - request)).toBeLessThanOrEqual(256 * 1024);
    const soonAfterAThousand = seen.slice(1100 - WINDOW, 1100);
    if (turns > 1100)
      expect(most(last, ({ written }) => written)).toBeLessThanOrEqual(most(soonAfterAThousand, ({ written }) => written) + 2048);
  }, 240_000);
});

describe("a session with snapshots", () => {
  /** Runs of a turn each, and who looks at the session opens it from a snapshot. */
  async function conversation(turns: number) {
    const services = { ...sharedServices(), recordsPerSnapshot: 4 };
    const runner = () =>
      runnerOf(createAgent({ name: "a", model: scriptedModel([({ messages }) => `answer ${messages.length}`]) }), services);
    for (let turn = 1; turn <= turns; turn++) await runner().run(`question ${turn}`, { session: "s" }).outcome;
    const textsOf = async (session: string) =>
      (await runner().sessions.get(session)).messages.map(({ content }) =>
        content.map((part) => (part.type === "text" ? part.text : "")).join(),
      );
    return { runner, textsOf, services };
  }

  it("goes back to the end of any turn, also of one that no snapshot tells of, and goes on from there", async () => {
    const { runner, textsOf, services } = await conversation(6);
    const all = await textsOf("s");
    expect([all.length, await services.log.head(snapshotLog("s"))]).toEqual([12, expect.toSatisfy((head: number) => head > 4)]);
    await runner().sessions.rewind("s", 4);
    expect(await textsOf("s")).toEqual(all.slice(0, 8));
    await runner().sessions.rewind("s", 1);
    expect(await textsOf("s")).toEqual(all.slice(0, 2));
    for (const question of ["another", "and another"]) await runner().run(question, { session: "s" }).outcome;
    expect((await textsOf("s")).slice(2)).toEqual(["another", "answer 3", "and another", "answer 5"]);
    await runner().sessions.rewind("s", 2);
    expect((await textsOf("s")).at(-1)).toBe("answer 3");
    await expect(runner().sessions.rewind("s", 3)).rejects.toThrow("has 2 complete turns");
    await runner().sessions.rewind("s", 0);
    expect(await textsOf("s")).toEqual([]);
  });

  it("is forked at the end of any turn, and its fork too", async () => {
    const { runner, textsOf } = await conversation(6);
    const all = await textsOf("s");
    expect(await textsOf(await runner().sessions.fork("s", { turn: 2, id: "f" }))).toEqual(all.slice(0, 4));
    for (const question of ["a", "b", "c"]) await runner().run(question, { session: "f" }).outcome;
    expect(await textsOf(await runner().sessions.fork("f", { turn: 1 }))).toEqual(all.slice(0, 2));
    expect(await textsOf(await runner().sessions.fork("f", { turn: 4 }))).toEqual([...all.slice(0, 4), "a", "answer 5", "b", "answer 7"]);
    expect(await textsOf(await runner().sessions.fork("s"))).toEqual(all);
    await runner().sessions.rewind("f", 1);
    expect(await textsOf("f")).toEqual(all.slice(0, 2));
  });
});
