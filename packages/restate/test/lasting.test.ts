import { createRunner } from "keelson";
import { operatorInput } from "keelson/orchestration";
import { inboxLog, type RunId, type SessionId } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sampleSize } from "../../../test/tier.ts";
import { startApplication, type Application } from "./support/application.ts";
import { doneIn, exampleAgents } from "./support/example-agents.ts";
import { eventually } from "./support/eventually.ts";
import { journalFaults } from "./support/journal-faults.ts";
import { isWithoutServer, needsServer } from "./support/server-binary.ts";

const at = (session: string, input = "go") => operatorInput(input, "user", { session: session as SessionId });

describe.skipIf(isWithoutServer)(`a run on Restate that takes long${needsServer}`, { timeout: 60_000 }, () => {
  let application: Application;
  beforeEach(async () => {
    application = await startApplication();
  });
  afterEach(async () => {
    await using _ended = application;
    expect(await journalFaults(application.server)).toEqual([]);
  });

  const waiting = (id: RunId) =>
    eventually("a run that waits", async () => {
      const status = (await application.orchestrator.query(id, { name: "status", params: {} })) as {
        readonly status: string;
        readonly waits: readonly { readonly token: string }[];
      };
      return status.status === "waiting" ? status : undefined;
    });

  it(
    "costs Restate and the log the same at each turn: entries and bytes of journals, and records that are read",
    { timeout: 600_000 },
    async () => {
      const turns = sampleSize("turns of a run on Restate", { test: 200, ci: 200, soak: 1000 });
      const { orchestrator, server } = application;
      const worker = await application.worker();
      const output = await orchestrator.dispatch("looker", at("long", String(turns)));
      expect(output).toMatchObject({ message: [{ text: `looked ${turns} times` }], exitReason: { type: "complete" } });

      const journals = await server.sql(
        `SELECT i.id AS id, i.created_at AS created, count(*) AS entries, sum(j.raw_length) AS bytes
       FROM sys_invocation i JOIN sys_journal j ON j.id = i.id
       WHERE i.target_service_key = 'long' GROUP BY i.id, i.created_at ORDER BY i.created_at`,
      );
      expect(journals.length).toBe(turns + 1);
      // The last ends without a call of the next.
      const sizes = journals.slice(0, -1).map(({ entries, bytes }) => ({ entries: Number(entries), bytes: Number(bytes) }));
      expect(new Set(sizes.map(({ entries }) => entries)).size).toBe(1);
      expect(Math.max(...sizes.map(({ bytes }) => bytes))).toBeLessThan(Math.min(...sizes.map(({ bytes }) => bytes)) + 32);

      const read = worker.lines.filter((line) => line.startsWith("turn long ")).map((line) => Number(line.split(" ")[2]));
      expect(read.length).toBe(turns + 1);
      // A snapshot is at most 500 records old, and read in pieces of a bounded size.
      expect(Math.max(...read)).toBeLessThan(1100);
    },
  );

  it("is worked by the deployment that is registered at each turn, and the one before is drained after it", async () => {
    const { orchestrator, server, records } = application;
    const first = await application.worker("--build", "one", "--hold-after", "1");
    const id = await orchestrator.start("looker", at("moved", "3"));
    await first.line("holding");
    await application.worker("--build", "two");
    first.goOn();
    expect(await orchestrator.attach(id)).toMatchObject({ message: [{ text: "looked 3 times" }] });
    const log = await records("moved");
    expect(log.filter(({ type }) => type === "tool-result").map(({ data }) => data["output"])).toEqual([
      "look by one",
      "look by two",
      "look by two",
    ]);
    expect(log.filter(({ type }) => type === "definition-change")).toHaveLength(1);
    expect(log.filter(({ type }) => type === "run-resume")).toEqual([]);
    const pinned = async () =>
      server.sql(
        `SELECT i.id FROM sys_invocation i JOIN sys_deployment d ON i.pinned_deployment_id = d.id
         WHERE d.endpoint LIKE '${first.url}%' AND i.status <> 'completed'`,
      );
    await eventually("a drained deployment", async () => ((await pinned()).length === 0 ? true : undefined));
    await first.kill("SIGTERM");
    expect(await first.gone).toBe("0");
    expect(await orchestrator.dispatch("looker", at("later", "1"))).toMatchObject({ exitReason: { type: "complete" } });
  });

  it("waits for a person while neither a worker nor the server is there, and goes on with the answer", async () => {
    const { orchestrator, server, directory } = application;
    const worker = await application.worker();
    const id = await orchestrator.start("payer", at("wages"));
    const [wait] = (await waiting(id)).waits;
    const attached = orchestrator.attach(id);
    await Promise.all([worker.kill(), server.kill()]);
    await server.start();
    // Asked of a server that knows of no worker that answers: it is heard once there is one.
    const approved = orchestrator.approve(wait?.token ?? "", { type: "allow" });
    await application.worker("--port", String(worker.port));
    expect(await approved).toEqual({ session: "wages", runId: id });
    expect(await attached).toMatchObject({ message: [{ text: "paid" }] });
    expect(doneIn(directory).filter((line) => line.startsWith("wages "))).toHaveLength(1);
  });

  it("waits for a time while neither a worker nor the server is there, and goes on when it has come", async () => {
    const { orchestrator, server } = application;
    const worker = await application.worker();
    const id = await orchestrator.start("napper", at("nap", "2"));
    await waiting(id);
    await Promise.all([worker.kill(), server.kill()]);
    await server.start();
    await application.worker("--port", String(worker.port));
    expect(await orchestrator.attach(id)).toMatchObject({ message: [{ text: "rested" }] });
  });

  it("hears what it is told once, where the worker dies before it could say that it was written", async () => {
    const { orchestrator, directory, log } = application;
    const inbox = async (session: string) => log.head(inboxLog(session as SessionId));
    /** Says something to a worker that dies of it, at whose address another one starts. */
    const tellDying = async <T>(say: () => Promise<T>): Promise<T> => {
      const dying = await application.worker("--die-after-inbox");
      const said = say();
      expect(await dying.gone).toBe("SIGKILL");
      await application.worker("--port", String(dying.port));
      return said;
    };
    await application.worker();
    const ear = await orchestrator.start("listener", at("ear"));
    const wages = await orchestrator.start("payer", at("wages"));
    await waiting(ear);
    const [wait] = (await waiting(wages)).waits;

    await tellDying(() => orchestrator.steer(ear, "listen"));
    expect(await inbox("ear")).toBe(1);
    await tellDying(() => orchestrator.signal(ear, { kind: "news", payload: "seven" }));
    expect(await inbox("ear")).toBe(2);
    expect(await tellDying(() => orchestrator.approve(wait?.token ?? "", { type: "allow" }))).toEqual({ session: "wages", runId: wages });
    expect(await inbox("wages")).toBe(1);
    expect((await orchestrator.attach(ear)).exitReason).toEqual({ type: "complete" });
    expect(await orchestrator.attach(wages)).toMatchObject({ message: [{ text: "paid" }] });
    expect(doneIn(directory)).toHaveLength(1);
  });

  it("is let go of at once where its invocation is killed with Restate's tools, and taken up again where what was left behind is recovered", async () => {
    const { orchestrator, server, records, directory, log } = application;
    const worker = await application.worker();
    const id = await orchestrator.start("dawdler", at("killed", "1500"));
    const invocation = await eventually("the call of the tool", async () => {
      if (doneIn(directory).length === 0) return undefined;
      const rows = await server.sql("SELECT id FROM sys_invocation WHERE target_service_key = 'killed' AND status = 'running'");
      return rows[0]?.["id"] as string | undefined;
    });
    await server.tell(invocation, "kill");
    await worker.line("let go of killed");
    const before = await records("killed");
    expect(before.some(({ type }) => type === "tool-result" || type === "run-complete")).toBe(false);
    expect(await orchestrator.query(id, { name: "status", params: {} })).toMatchObject({ status: "working" });
    const runner = createRunner({ agents: exampleAgents(directory, "one"), log, orchestrator });
    expect(await runner.recover()).toMatchObject({ runs: [], woken: ["killed"], failed: [] });
    expect(await orchestrator.attach(id)).toMatchObject({ message: [{ text: "there" }] });
    expect((await records("killed")).filter(({ type }) => type === "run-resume")).toHaveLength(1);
  });

  it("goes on elsewhere where its worker is told to end while it is at work", async () => {
    const { orchestrator, records } = application;
    const worker = await application.worker();
    const id = await orchestrator.start("walker", at("walk"));
    await worker.line("turn walk");
    const ended = worker.kill("SIGTERM");
    await application.worker("--build", "two");
    await ended;
    expect(await worker.gone).toBe("0");
    await orchestrator.steer(id, "enough");
    expect(await orchestrator.attach(id)).toMatchObject({ message: [{ text: "home" }] });
    expect((await records("walk")).filter(({ type }) => type === "run-complete")).toHaveLength(1);
  });
});
