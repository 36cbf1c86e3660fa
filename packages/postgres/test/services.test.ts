import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createPostgres, type PostgresStores } from "@keelson/postgres";
import { createScenarioRunner, ENGINE_SCENARIOS, type EngineScenario, playScenario, writeFaults } from "keelson/testing/engines";
import { type LogId, type LogRecord, sessionLog, type SessionId, usd } from "@keelson/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed, tier } from "../../../test/tier.ts";
import { inParallel } from "../../runtime/test/crash/scenario-child.ts";
import { randomNumbers } from "../../runtime/test/processes/random-numbers.ts";
import { eventually } from "../../restate/test/support/eventually.ts";
import { type FaultyProxy, openFaultyProxy } from "./support/faulty-proxy.ts";
import { type PostgresServer, startPostgresServer } from "./support/postgres-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";
import { startProcess, type TestProcess } from "./support/test-process.ts";

const SESSIONS = sampleSize("sessions that four services on one PostgreSQL work while they are killed, stalled and cut off", {
  test: 4,
  ci: 8,
  soak: 400,
});
/** Enough for every call. */
const AMPLE = 1_000_000;
const SERVICES = 4;
/** Longer than a lease of theirs. */
const STALL_MS = 2500;
/** A run that is recovered more often before it gets on ends as `circuit-breaker`. */
const MAX_STALLS = 3;

const SCENARIOS: readonly EngineScenario[] = [
  "reads-marks-and-writes",
  "allowed",
  "asks-children-side-by-side",
  "writes-side-by-side",
  "one-question-after-another",
  "a-child-asks-people",
  "goes-on-in-its-session",
].map((wanted) => {
  const found = ENGINE_SCENARIOS.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`There is no scenario "${wanted}".`);
  return found;
});

function sessionsOf(count: number, prefix: string, scenarios: readonly EngineScenario[] = SCENARIOS): readonly EngineScenario[] {
  return Array.from({ length: count }, (_, n) => {
    const scenario = scenarios[n % scenarios.length] as EngineScenario;
    return { ...scenario, name: `${prefix}${scenario.name}-${n}` };
  });
}

/** A service, and what stands between it and the database. */
interface Service {
  readonly proxy: FaultyProxy;
  process: TestProcess;
}

describe.skipIf(isWithoutServer)(`four services on one PostgreSQL${needsServer}`, { timeout: 120_000 + SESSIONS * 10_000 }, () => {
  let server: PostgresServer;
  let directory: string;
  let stores: PostgresStores;
  beforeAll(async () => {
    server = await startPostgresServer();
    directory = await mkdtemp(join(tmpdir(), "keelson-services-"));
    stores = createPostgres({ connectionString: server.connectionString(), pollMs: 200 });
    await stores.ready();
  });
  afterAll(async () => {
    await stores.close();
    await server[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  /** What happened to the services, and what went wrong. */
  interface Work {
    readonly faults: readonly string[];
    readonly kills: number;
    readonly stalls: number;
    readonly cuts: number;
    /** Runs that the services gave up, because they got nowhere. */
    readonly givenUp: number;
  }

  /** Executes sessions to their ends under faults: first a kill and a stall, then faults by chance. Their model calls share one budget. */
  async function work(
    plays: readonly EngineScenario[],
    budget: { readonly id: string; readonly maxModelCalls: number },
    ...flags: readonly string[]
  ): Promise<Work> {
    const random = randomNumbers(seed);
    const start = ({ port }: FaultyProxy): TestProcess =>
      startProcess("service", directory, `postgres://postgres@127.0.0.1:${port}/postgres`, "keelson", ...flags);
    const services: Service[] = [];
    for (let n = 0; n < SERVICES; n++) {
      const proxy = await openFaultyProxy(server.port);
      services.push({ proxy, process: start(proxy) });
    }
    const begun = async (service: Service): Promise<void> => void (await service.process.lines.next());
    await Promise.all(services.map(begun));
    let isOver = false;
    const done = { kills: 0, stalls: 0, cuts: 0, givenUp: 0 };
    const kill = async (service: Service): Promise<void> => {
      done.kills++;
      service.process.child.kill("SIGKILL");
      await service.process.exit;
      service.process = start(service.proxy);
      // On a slow machine no service would ever work otherwise.
      await begun(service);
    };
    const stall = async ({ process: { child } }: Service): Promise<void> => {
      done.stalls++;
      child.kill("SIGSTOP");
      await delay(STALL_MS);
      child.kill("SIGCONT");
    };
    const disturbing = (async () => {
      const [first, second] = services as [Service, Service];
      await delay(100);
      await Promise.all([kill(first), stall(second)]);
      while (!isOver) {
        await delay(100 + random() * 400);
        const service = services[Math.floor(random() * SERVICES)] as Service;
        const fault = random();
        if (fault < 0.3) await kill(service);
        else if (fault < 0.5) await stall(service);
        else {
          // Somewhere in the next statements.
          service.proxy.failAt(1 + Math.floor(random() * 60));
          done.cuts++;
        }
      }
    })();

    const faults: string[] = [];
    const { log, blobs, ledger } = stores;
    const shared = { directory, log, blobs, ledger };
    const runner = createScenarioRunner(shared);
    const engine = {
      services: shared,
      async begin(session: string, input: string, { agent, id }: { readonly agent: string; readonly id: string }) {
        // Whoever worked the run before it may hold the lease for a moment still, or stand still with it.
        await eventually(`a run of ${session}`, async () => {
          await runner.begin(session, input, { agent, id, budgets: [budget] });
          return true;
        });
      },
      wake: async () => {},
      close: async () => {},
    };
    try {
      await inParallel(
        plays,
        async (scenario) => {
          const { ends } = scenario;
          try {
            const { reason, text, calls } = await playScenario(scenario, engine, AbortSignal.timeout(90_000));
            const isTight = budget.maxModelCalls < AMPLE;
            // By chance a run is disturbed so often before it gets on that it has to end.
            const isGivenUp = reason === "circuit-breaker" && (await recoveriesOf(scenario.name)) > MAX_STALLS;
            if (!isTight && !isGivenUp && (reason !== ends.reason || text !== (ends.text ?? text)))
              faults.push(`${scenario.name}: it ended ${reason}, "${text}"`);
            if (isGivenUp) done.givenUp++;
            // A run that ends early ends before its writes, or without what its children would have done; no write is done twice.
            const wrong = writeFaults(scenario, calls).filter((fault) => !(isTight || isGivenUp) || fault.startsWith("one call of"));
            faults.push(...wrong.map((fault) => `${scenario.name}: ${fault}`));
          } catch (error) {
            faults.push(`${scenario.name}: ${String(error)}`);
          }
        },
        5,
      );
    } finally {
      isOver = true;
      await disturbing;
      for (const { process, proxy } of services) {
        process.child.kill("SIGKILL");
        await process.exit;
        await proxy[Symbol.asyncDispose]();
      }
    }
    return { ...done, faults: faults.map((fault) => `${fault} (seed ${seed}, ${JSON.stringify(done)})`) };
  }

  /** Counts how often the run of a session was taken up after its process had left it. */
  async function recoveriesOf(session: string): Promise<number> {
    return (await recordsOf(session)).filter(({ type, data }) => type === "run-resume" && data["cause"] === "recovery").length;
  }

  async function recordsOf(session: string): Promise<readonly LogRecord[]> {
    const records: LogRecord[] = [];
    for await (const record of stores.log.read(sessionLog(session as SessionId))) records.push(record);
    return records;
  }

  it(`share sessions, budgets and approvals while they are killed, stalled past their leases and cut off: nothing is done twice, and no run stays behind (seed ${seed})`, async () => {
    const { ledger } = stores;
    const plays = sessionsOf(SESSIONS, "");
    const { faults, kills, stalls, givenUp } = await work(plays, { id: "team", maxModelCalls: AMPLE });
    expect(faults).toEqual([]);
    expect(givenUp).toBeLessThanOrEqual(SESSIONS / 50);
    expect(kills).toBeGreaterThan(0);
    expect(stalls).toBeGreaterThan(0);
    for (const { name } of plays) {
      const records = await recordsOf(name);
      const begun = records.filter(({ type }) => type === "run-start").length;
      expect([name, records.filter(({ type }) => type === "run-complete").length]).toEqual([name, begun]);
    }
    expect((await ledger.used("team")).modelCalls).toBeGreaterThanOrEqual(SESSIONS);
    expect(await ledger.spent("team")).toBe(usd("0"));
  });

  it(`never make more model calls than a shared budget allows while they are killed, stalled and cut off (seed ${seed})`, async () => {
    const { log, ledger } = stores;
    // A run without budget ends before a person is asked, so that nobody could answer.
    const unattended = SCENARIOS.filter(({ acts = [] }) => acts.length === 0);
    const plays = sessionsOf(SESSIONS, "tight-", unattended);
    // Each session needs more than one call.
    const budget = { id: "tight", maxModelCalls: SESSIONS };
    const { faults, kills, stalls } = await work(plays, budget);
    expect(faults).toEqual([]);
    expect(kills).toBeGreaterThan(0);
    expect(stalls).toBeGreaterThan(0);
    let calls = 0;
    const endings = new Set<unknown>();
    for (const { log: id } of await log.list({ prefix: "session/tight-" as LogId })) {
      if (id.endsWith("/inbox")) continue;
      for (const { type, data } of await recordsOf(id.slice("session/".length))) {
        if (type === "inference") calls++;
        if (type === "run-complete") endings.add(data["reason"]);
      }
    }
    expect(endings).toContain("budget-exhausted");
    expect(calls).toBeLessThanOrEqual(budget.maxModelCalls);
    expect((await ledger.used("tight")).modelCalls).toBe(budget.maxModelCalls);
  });

  it.runIf(tier === "soak")(`are found to do a write twice where they keep no ledger of calls (seed ${seed})`, async () => {
    const twice = /one call of \w+ .* ran 2 times/;
    let faults = "";
    // Whether one of some sixty is killed between a write and its record is chance; of a thousand some are.
    for (let round = 1; round <= 16 && !twice.test(faults); round++)
      faults = (await work(sessionsOf(60, `unsafe-${round}-`), { id: "team", maxModelCalls: AMPLE }, "--without-ledger")).faults.join("\n");
    expect(faults).toMatch(twice);
  });
});
