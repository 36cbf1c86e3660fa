import { type EventLog, type Lease, LogError, type SessionId, sessionLog, type Tool } from "@keelson/protocol";
import { expect, it } from "vitest";
import type { Agent } from "../../src/agent/definition/agent.ts";
import { agentTool, createAgent, defineTool } from "../../src/index.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { createLives } from "./lives.ts";
import { createPoints, type Points } from "./points.ts";
import { impatientClock, scriptByTurn } from "./scenario.ts";

const SESSION = "leased";

/** Leases are renewed over and over. */
const hasty: Clock = {
  now: () => impatientClock.now(),
  after(_ms, run) {
    const immediate = setImmediate(run);
    return () => clearImmediate(immediate);
  },
};

function caller(points: Points, tools: readonly Tool[]): Agent<undefined> {
  const [tool] = tools;
  return createAgent({
    name: `calls-${tool?.name ?? ""}`,
    model: scriptByTurn(points, "scripted/caller", (turn) =>
      turn === 0 ? { toolCalls: [{ name: tool?.name ?? "", input: { task: "Do it." } }] } : { text: "Done." },
    ),
    tools,
  });
}

/** A tool that takes until `end`, whatever its signal says. */
function slow(): { readonly tool: Tool; readonly began: Promise<AbortSignal>; end(): void } {
  let end = (): void => {};
  let begin = (_signal: AbortSignal): void => {};
  const began = new Promise<AbortSignal>((resolve) => {
    begin = resolve;
  });
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  const tool = defineTool({
    name: "slow",
    description: "Takes its time.",
    effect: "read",
    input: { type: "object" },
    async execute(_input, { signal }) {
      begin(signal);
      await done;
      return "slowly done";
    },
  }) as Tool;
  return { tool, began, end: () => end() };
}

async function heads(log: EventLog): Promise<{ readonly [log: string]: number }> {
  return Object.fromEntries((await log.list()).map(({ log: id, head }) => [id, head]));
}

it("a run that can't renew its lease for the moment goes on, since nobody else has it", async () => {
  const lives = createLives();
  let renewals = 0;
  const shaky: EventLog = {
    ...lives.log,
    async acquire(log, options): Promise<Lease> {
      const lease = await lives.log.acquire(log, options);
      return {
        ...lease,
        renew: () => (++renewals < 3 ? Promise.reject(new LogError({ kind: "unavailable", message: "busy" })) : lease.renew()),
      };
    },
  };
  const work = slow();
  const points = createPoints();
  const { outcome } = lives
    .begin(() => caller(points, [work.tool]), { log: shaky, clock: hasty, points })
    .runner.run("Go.", { session: SESSION });
  await work.began;
  while (renewals < 5) await new Promise(setImmediate);
  work.end();
  expect((await outcome).reason).toBe("complete");
});

for (const resumed of [false, true]) {
  it(`a parent that learns in the midst of a child's tool that it lost its lease leaves the child as it is, and writes to nobody${resumed ? ", in a run that was resumed as well" : ""}`, async () => {
    const lives = createLives();
    const work = slow();
    const parts = ({ points }: { readonly points: Points }): Agent<undefined> =>
      caller(points, [agentTool(caller(points, [work.tool]), { name: "helper" })]);
    if (resumed) {
      const first = lives.begin(parts, { place: "inferring#0" });
      void first.runner.run("Go.", { session: SESSION }).outcome;
      await first.died;
    }
    const { runner: losing } = lives.begin(parts, { clock: hasty });
    const { outcome } = resumed ? await losing.resume(SESSION) : losing.run("Go.", { session: SESSION });
    const signal = await work.began;
    lives.pass(1_000_000);
    const lease = await lives.log.acquire(sessionLog(SESSION as SessionId), { owner: "another", ttlMs: 1_000 });
    const before = await heads(lives.log);
    while (!signal.aborted) await new Promise(setImmediate);
    work.end();
    expect((await outcome).error?.failure.kind).toBe("detached");
    expect(await heads(lives.log)).toEqual(before);
    await lease.release();

    // Whoever has the lease now brings both to their end.
    const { runner } = lives.begin(parts, { clock: hasty });
    expect((await (await runner.resume(SESSION)).outcome).reason).toBe("complete");
  });
}

it("a clock that was set back makes no run wait longer than it had to, for a retry or for its time limit", async () => {
  const lives = createLives();
  const points = createPoints();
  const waits: number[] = [];
  const recording: Clock = {
    now: () => 0,
    after(ms, run, options) {
      waits.push(ms);
      return options?.keepAlive === false ? () => {} : impatientClock.after(ms, run, options);
    },
  };
  let failures = 0;
  const agent = (): Agent<undefined> =>
    createAgent({
      name: "failing",
      model: scriptByTurn(points, "scripted/failing", () => (failures++ === 0 ? { error: { kind: "server-error" } } : { text: "Done." })),
      limits: { maxDurationMs: 120_000 },
    });
  // By this clock all that the log holds was written in a distant future.
  const { runner } = lives.begin(agent, { clock: recording, points, keepsOwnTime: true });
  expect((await runner.run("Go.", { session: SESSION }).outcome).reason).toBe("complete");
  expect(failures).toBe(2);
  expect(waits).toContain(375);
  expect(Math.max(...waits)).toBeLessThanOrEqual(120_000);
});

it("a run has its whole time limit from its beginning, also where it is the first in its session", async () => {
  const lives = createLives();
  const points = createPoints();
  const limits: number[] = [];
  const recording: Clock = {
    now: () => impatientClock.now(),
    after(ms, run, options) {
      if (options?.keepAlive === false) limits.push(ms);
      return options?.keepAlive === false ? () => {} : impatientClock.after(ms, run, options);
    },
  };
  const agent = ({ points: own }: { readonly points: Points }): Agent<undefined> =>
    createAgent({
      name: "timed",
      model: scriptByTurn(own, "scripted/timed", () => ({ text: "Done." })),
      limits: { maxDurationMs: 77_000 },
    });
  const { runner } = lives.begin(agent, { clock: recording, points });
  for (const input of ["One.", "Two."]) {
    limits.length = 0;
    lives.pass(1_000_000);
    expect((await runner.run(input, { session: SESSION }).outcome).reason).toBe("complete");
    expect(limits).toContain(77_000);
  }

  // And no more than that where it goes on while the clock is set back.
  const first = lives.begin(agent, { place: "inferring#0" });
  void first.runner.run("Three.", { session: SESSION }).outcome;
  await first.died;
  limits.length = 0;
  const { outcome } = await lives
    .begin(agent, { clock: { ...recording, now: () => 0 }, points, keepsOwnTime: true })
    .runner.resume(SESSION);
  expect((await outcome).reason).toBe("complete");
  expect(limits).toContain(77_000);
  expect(Math.max(...limits)).toBe(77_000);
});
