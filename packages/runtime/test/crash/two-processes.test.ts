import { AgentError, type EventLog, type LogId, type SessionId, sessionLog, sessionOf } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { finish } from "./finish.ts";
import { faultsOf } from "./normalised-log.ts";
import { openPlain, PLAIN_SESSIONS } from "./plain-scenario.ts";
import { createPoints } from "./points.ts";
import { liveInProcess, waitInProcess, withFolder } from "./scenario-child.ts";
import { LEASE_MS, openFolder } from "./scenario-folder.ts";
import { SESSION } from "./scenario.ts";
import { faultsAfter, undisturbed } from "./simulated-lives.ts";

const expected = await undisturbed();

/** How many records each log holds. */
async function heads(log: EventLog): Promise<{ readonly [log: string]: number }> {
  return Object.fromEntries((await log.list()).map(({ log: id, head }) => [id, head]));
}

describe("two processes on one session", () => {
  it("are one too many: the second is refused while the first lives, and nothing of it is written", { timeout: 30_000 }, async () => {
    await withFolder(async (folder) => {
      const first = await waitInProcess(folder, "mark/before#0");
      await using scenario = openFolder(folder, { points: createPoints() });
      const before = await heads(scenario.log);
      await expect(scenario.runner.resume(SESSION)).rejects.toSatisfy(
        (error) => AgentError.is(error, "session") && /is being worked on by/.test(error.message),
      );
      const run = scenario.runner.run("Do it too.", { session: SESSION });
      const { reason, error } = await run.outcome;
      expect({ reason, kind: error?.failure.kind }).toEqual({ reason: "error", kind: "session" });
      expect(await scenario.runner.recover()).toEqual({ runs: [], failed: [] });
      expect(await heads(scenario.log)).toEqual(before);
      first.goOn();
      expect(await first.life).toMatchObject({ reason: "awaiting-approval", exit: 0 });
    });
  });

  it("follow one another when the first is killed: recover() finds its run and brings it to its end", { timeout: 30_000 }, async () => {
    await withFolder(async (folder) => {
      const first = await waitInProcess(folder, "mark/after#0");
      await using scenario = openFolder(folder, { points: createPoints() });
      expect(await scenario.runner.recover()).toEqual({ runs: [], failed: [] });
      first.kill("SIGKILL");
      await first.life;
      const [run, ...others] = (await scenario.runner.recover()).runs;
      expect(others).toEqual([]);
      expect((await run?.outcome)?.reason).toBe("awaiting-approval");
      expect(await scenario.runner.recover(), "nobody has decided yet").toEqual({ runs: [], failed: [] });
      const finished = await finish(scenario.runner, scenario.log, scenario.effects);
      expect(await faultsAfter(scenario.log, scenario.effects, finished, expected)).toEqual([]);
      expect(await scenario.runner.recover()).toEqual({ runs: [], failed: [] });
    });
  });

  for (const [where, place] of [
    ["in a tool", "mark/before#0"],
    ["in an inference", "inferring#1"],
    ["in a tool of a child agent", "file_report/before#0"],
    ["at an append", "append#3"],
  ] as const) {
    it(`lets a process that slept past its lease ${where} end detached, without another word in any log`, { timeout: 30_000 }, async () => {
      await withFolder(async (folder) => {
        if (place.startsWith("file_report")) {
          await liveInProcess(folder);
          await using scenario = openFolder(folder, { points: createPoints() });
          for await (const { type, data } of scenario.log.read(sessionLog(SESSION as SessionId))) {
            if (type === "approval-request") await scenario.runner.approve(data["token"] as string, { type: "allow" });
          }
        }
        const sleeper = await waitInProcess(folder, place);
        sleeper.kill("SIGSTOP");
        // For whoever takes over, the lease has ended.
        await using scenario = openFolder(folder, { points: createPoints(), now: () => Date.now() + 2 * LEASE_MS });
        const finished = await finish(scenario.runner, scenario.log, scenario.effects);
        expect(finished.outcome.reason).toBe("complete");
        const before = await heads(scenario.log);
        sleeper.kill("SIGCONT");
        sleeper.goOn();
        expect(await sleeper.life).toMatchObject({ reason: "error/detached", exit: 0 });
        expect(await heads(scenario.log)).toEqual(before);
        expect(await faultsOf(scenario.log, SESSION)).toEqual([]);
      });
    });
  }

  it("takes no child down when a process that lost only the parent's lease wakes up", { timeout: 30_000 }, async () => {
    await withFolder(async (folder) => {
      await liveInProcess(folder);
      await using scenario = openFolder(folder, { points: createPoints(), now: () => Date.now() + 2 * LEASE_MS });
      for await (const { type, data } of scenario.log.read(sessionLog(SESSION as SessionId))) {
        if (type === "approval-request") await scenario.runner.approve(data["token"] as string, { type: "allow" });
      }
      const sleeper = await waitInProcess(folder, "look/before#1");
      sleeper.kill("SIGSTOP");
      const lease = await scenario.log.acquire(sessionLog(SESSION as SessionId), { owner: "somebody", ttlMs: LEASE_MS });
      const before = await heads(scenario.log);
      sleeper.kill("SIGCONT");
      sleeper.goOn();
      await sleeper.life;
      const after = await heads(scenario.log);
      expect(Object.keys(after).filter((id) => id.endsWith("/inbox") && after[id] !== before[id])).toEqual([]);
      await lease.release();
      const finished = await finish(scenario.runner, scenario.log, scenario.effects);
      expect(await faultsAfter(scenario.log, scenario.effects, finished, expected)).toEqual([]);
    });
  });
});

it("ends a run that crashes again and again, instead of trying for ever", { timeout: 60_000 }, async () => {
  await withFolder(async (folder) => {
    const lives: unknown[] = [];
    for (let life = 0; life < 4; life++) lives.push((await liveInProcess(folder, { place: "inferring#0" })).exit);
    expect(lives).toEqual(["SIGKILL", "SIGKILL", "SIGKILL", "SIGKILL"]);
    await using scenario = openFolder(folder, { points: createPoints() });
    const [run] = (await scenario.runner.recover()).runs;
    expect((await run?.outcome)?.reason).toBe("circuit-breaker");
    expect(await faultsOf(scenario.log, SESSION)).toEqual([]);
    expect((await (await scenario.runner.resume(SESSION)).outcome).reason).toBe("circuit-breaker");
    expect(await scenario.runner.recover()).toEqual({ runs: [], failed: [] });
  });
});

describe("several runs at once", () => {
  it("each come to their end, in their own logs, on one runner", { timeout: 30_000 }, async () => {
    await withFolder(async (folder) => {
      await using scenario = openFolder(folder, { points: createPoints(), open: openPlain });
      const outcomes = await Promise.all(PLAIN_SESSIONS.map((session) => scenario.runner.run("Do the job.", { session }).outcome));
      expect(outcomes.map(({ reason }) => reason)).toEqual(PLAIN_SESSIONS.map(() => "complete"));
      for (const session of PLAIN_SESSIONS) expect(await faultsOf(scenario.log, session)).toEqual([]);
      expect(
        scenario.effects
          .read()
          .map(({ tool }) => tool)
          .sort(),
      ).toEqual(PLAIN_SESSIONS.flatMap((session) => [`${session}/mark`, `${session}/post`]).sort());
    });
  });

  for (const place of ["append#5", "appended#9", "post/after#1", "mark/after#2", "inferred#6"]) {
    it(`are all recovered when their process is killed at ${place}, with every write done once`, { timeout: 30_000 }, async () => {
      await withFolder(async (folder) => {
        expect((await liveInProcess(folder, { place, scenario: "plain" })).exit).toBe("SIGKILL");
        await using scenario = openFolder(folder, { points: createPoints(), open: openPlain });
        const started = (await scenario.log.list()).map(({ log }) => log).filter((log) => sessionOf(log) !== undefined);
        const open = await unended(scenario.log, started);
        const { runs } = await scenario.runner.recover({ concurrency: 2 });
        expect(runs.map(({ session }) => session).sort()).toEqual(open);
        for (const run of runs) expect((await run.outcome).reason).toBe("complete");
        expect(await unended(scenario.log, started)).toEqual([]);
        const writes = scenario.effects
          .read()
          .map(({ tool }) => tool)
          .filter((tool) => tool.endsWith("/post"));
        expect(writes.sort()).toEqual(started.map((log) => `${log.slice("session/".length)}/post`).sort());
      });
    });
  }
});

/** The sessions of these logs without an end. */
async function unended(log: EventLog, logs: readonly LogId[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const id of logs) {
    let last = "";
    for await (const { type } of log.read(id)) last = type;
    if (last !== "run-complete") found.push(id.slice("session/".length));
  }
  return found.sort();
}
