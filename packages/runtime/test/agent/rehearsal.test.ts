import { AgentError, type EventLog, type NewRecord, type SessionId, sessionLog, snapshotLog, textMessage } from "@keelson/protocol";
import { createAgent, createRunner, defineTool, type Agent, type AgentOptions } from "keelson";
import { fsmStrategy, waitForSignalTool } from "keelson/agent";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { readSnapshot, writeSnapshot } from "../../src/session/snapshots/snapshot.ts";
import { listOf } from "../list-of.ts";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

const SEND = { toolCalls: [{ name: "send", input: { to: "ann" } }] };

/** Asks a person whether it may send. */
function sender(changes: Partial<AgentOptions> = {}): Agent<undefined> {
  return createAgent({
    name: "sender",
    model: scriptedModel([SEND, "Sent."]),
    tools: [recordingTool("send")],
    permissions: { rules: [{ pattern: "send", behavior: "ask" }] },
    ...changes,
  });
}

/** A session that waits for a person's word. */
async function waiting(session = "s") {
  const services = sharedServices();
  expect((await runnerOf(sender(), services).run("Send it.", { session }).outcome).reason).toBe("awaiting-approval");
  return services;
}

async function append(log: EventLog, ...records: readonly NewRecord[]): Promise<void> {
  await log.append(sessionLog("s" as SessionId), "any", records);
}

describe("runner.rehearse", () => {
  it("tells of each session that has an open run, and of no other, and counts them", async () => {
    const services = await waiting();
    await runnerOf(createAgent({ name: "sender", model: scriptedModel(["Hi."]) }), services).run("Hello?", { session: "over" }).outcome;
    const rehearsal = runnerOf(sender(), services).rehearse();
    const found = await listOf(rehearsal);
    expect(found).toEqual([
      {
        session: "s",
        run: expect.stringMatching(/^r_/),
        agent: "sender",
        verdict: "waits",
        reason: "it waits as before, for a person's word on send",
        changed: false,
        isSafe: true,
      },
    ]);
    expect(rehearsal.totals).toEqual({ "goes-on": 0, "waits": 1, "asks": 0, "ends": 0, "refused": 0, "differs": 0 });
    expect(rehearsal.isSafe).toBe(true);
  });

  it("takes up what was said since: with the answer in its inbox a run goes on with its call", async () => {
    const services = await waiting();
    const runner = runnerOf(sender(), services);
    const [question] = await runner.approvals.list();
    await runner.approve(question?.token ?? "", { type: "allow" });
    const head = await services.log.head(sessionLog("s" as SessionId));
    expect(await listOf(runner.rehearse())).toMatchObject([{ verdict: "goes-on", reason: "it goes on with the tool send" }]);
    expect(await services.log.head(sessionLog("s" as SessionId))).toBe(head);
  });

  it("says that a call would be asked about whose tool is gone, or takes other arguments, and that this is no build to deploy", async () => {
    const services = await waiting();
    const strict = defineTool({
      name: "send",
      description: "Sends.",
      input: { type: "object", properties: { subject: { type: "string" } }, required: ["subject"] },
      execute: () => "sent",
    });
    for (const [tools, why] of [
      [[], 'it has no tool "send" any more'],
      [[strict], "send no longer takes these arguments"],
    ] as const) {
      const rehearsal = runnerOf(sender({ tools, permissions: {} }), services).rehearse();
      expect(await listOf(rehearsal)).toMatchObject([
        {
          verdict: "asks",
          reason: expect.stringContaining(why),
          action: expect.stringMatching(/^Keep what the call needs/),
          changed: true,
        },
      ]);
      expect(rehearsal.isSafe).toBe(false);
    }
  });

  it("says that a run is refused whose agent is gone, as resume refuses it", async () => {
    const services = await waiting();
    const runner = runnerOf(sender({ name: "another" }), services);
    const refusal = await runner.resume("s").then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(AgentError.is(refusal, "session")).toBe(true);
    expect(await listOf(runner.rehearse())).toMatchObject([
      {
        verdict: "refused",
        reason: (refusal as AgentError).message,
        action: expect.stringMatching(/^Deploy a build that can/),
        isSafe: false,
      },
    ]);
  });

  it("says at which record a log is damaged, and goes on with the other sessions", async () => {
    const services = await waiting();
    await runnerOf(sender(), services).run("Send it.", { session: "t" }).outcome;
    await append(services.log, { key: "r/message", type: "message", data: { message: null } });
    const head = await services.log.head(sessionLog("s" as SessionId));
    expect(await listOf(runnerOf(sender(), services).rehearse())).toMatchObject([
      { session: "s", verdict: "refused", seq: head, reason: expect.stringContaining(`Record ${head} (message)`) },
      { session: "t", verdict: "waits" },
    ]);
  });

  it("says at which record a log holds what this build does not know", async () => {
    const services = await waiting();
    await append(services.log, { key: "r/later", type: "of-a-later-version", data: {} });
    expect(await listOf(runnerOf(sender(), services).rehearse())).toMatchObject([
      {
        verdict: "differs",
        seq: await services.log.head(sessionLog("s" as SessionId)),
        reason: expect.stringContaining('is of the type "of-a-later-version"'),
        action: "Deploy the version that wrote it, or a later one.",
        isSafe: false,
      },
    ]);
  });

  it("says at which record a snapshot differs from the log that it was made of, and in what", async () => {
    const log = createMemoryEventLog();
    const blobs = createMemoryBlobStore();
    const services = { ...sharedServices(), log, blobs, recordsPerSnapshot: 1 };
    await runnerOf(sender(), services).run("Send it.", { session: "s" }).outcome;
    expect(await listOf(runnerOf(sender(), services).rehearse())).toMatchObject([{ verdict: "waits" }]);
    const session = "s" as SessionId;
    const snapshot = await readSnapshot(log, blobs, session);
    if (snapshot === undefined) throw new Error("there is no snapshot");
    const { state, place } = snapshot;
    const newest = (await listOf(log.read(snapshotLog(session)))).at(-1);
    const [, , other] = [...state.conversation.messages, textMessage("user", "Never said.")];
    state.conversation.append(other as never);
    await writeSnapshot(log, blobs, state, newest?.data["key"] as string, undefined);
    expect(await listOf(runnerOf(sender(), services).rehearse())).toMatchObject([
      {
        verdict: "differs",
        seq: place.seq,
        reason: expect.stringMatching(/snapshot says conversation\.2 is .*Never said.*by this build, says absent/),
        isSafe: false,
      },
    ]);
  });

  it("says that a run is refused whose state its state machine no longer has", async () => {
    const services = sharedServices();
    const machine = (state: string) =>
      fsmStrategy()
        .initial(state)
        .state(state, { tools: ["wait"] })
        .build();
    const agent = (state: string) =>
      createAgent({
        name: "machine",
        model: scriptedModel([{ toolCalls: [{ name: "wait", input: {} }] }]),
        tools: [waitForSignalTool({ name: "wait" })],
        strategy: machine(state),
      });
    await runnerOf(agent("open"), services).run("Wait.", { session: "s" }).outcome;
    expect(await listOf(runnerOf(agent("open"), services).rehearse())).toMatchObject([
      { verdict: "waits", reason: "it waits as before, for the signal *" },
    ]);
    expect(await listOf(runnerOf(agent("shut"), services).rehearse())).toMatchObject([
      { verdict: "refused", reason: expect.stringContaining('the state "open"'), changed: true },
    ]);
  });

  it("says that a run would end with an error that this build can't hold in a sandbox", async () => {
    const services = await waiting();
    const held = runnerOf(sender(), { ...services, environmentSpec: { isolation: [{ type: "process" }], credentials: [] } });
    const [found] = await listOf(held.rehearse());
    const { reason, error } = await (await held.resume("s")).outcome;
    expect({ reason, isSafe: found?.isSafe }).toEqual({ reason: "error", isSafe: false });
    expect(found).toMatchObject({ verdict: "ends", reason: `it ends with an error: ${error?.message}` });
  });

  it("rehearses a child with the run that started it, by the definition that it would go on with", async () => {
    const services = sharedServices();
    const parent = (child: Agent<undefined>) =>
      createAgent({
        name: "parent",
        model: scriptedModel([{ toolCalls: [{ name: "sender", input: { task: "Send." } }] }]),
        tools: [child.asTool()],
      });
    await runnerOf(parent(sender()), services).run("Go.", { session: "s" }).outcome;
    expect(await listOf(runnerOf(parent(sender()), services).rehearse())).toMatchObject([{ session: "s", verdict: "waits" }]);
    const changed = runnerOf(parent(sender({ tools: [], permissions: {} })), services);
    expect(await listOf(changed.rehearse())).toMatchObject([{ session: "s", verdict: "asks", isSafe: false }]);
  });

  it("asks the approvals callback nothing: whoever has one goes on with its answer", async () => {
    const services = await waiting();
    let asked = 0;
    const runner = runnerOf(sender(), { ...services, approvals: async () => (asked++, { type: "allow" }) });
    expect(await listOf(runner.rehearse())).toMatchObject([
      { verdict: "goes-on", reason: "it goes on with the answer of the approvals callback to send" },
    ]);
    expect(asked).toBe(0);
  });

  it("rehearses the sessions that it is given: one that is over has nothing left to do, one that is not there is refused", async () => {
    const services = await waiting();
    await runnerOf(createAgent({ name: "sender", model: scriptedModel(["Hi."]) }), services).run("Hello?", { session: "over" }).outcome;
    const found = await listOf(runnerOf(sender(), services).rehearse({ sessions: ["over", "nowhere", "s"] }));
    expect(found.map(({ session, verdict }) => [session, verdict])).toEqual([
      ["over", "goes-on"],
      ["nowhere", "refused"],
      ["s", "waits"],
    ]);
  });

  it("stops between two sessions when its signal fires", async () => {
    const services = await waiting("a");
    await runnerOf(sender(), services).run("Send it.", { session: "b" }).outcome;
    const controller = new AbortController();
    const seen: string[] = [];
    const all = async (): Promise<void> => {
      for await (const { session } of runnerOf(sender(), services).rehearse({ signal: controller.signal })) {
        seen.push(session);
        controller.abort(new Error("enough"));
      }
    };
    await expect(all()).rejects.toThrow("enough");
    expect(seen).toHaveLength(1);
  });

  it("refuses an option that it does not have", () => {
    const runner = createRunner({ agent: sender() });
    expect(() => runner.rehearse({ session: "s" } as never)).toThrow('runner.rehearse has no option "session": did you mean "sessions"?');
  });
});
