import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionLog } from "@keelson/protocol";
import fc from "fast-check";
import { createScenarioRunner, ENGINE_SCENARIOS, type EngineScenario, playScenario } from "keelson/testing/engines";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../test/tier.ts";
import { endsAfter, readEvents, someBreaks, watchWithBreaks } from "../../runtime/test/processes/watch-with-breaks.ts";
import { openServices } from "./support/open-services.ts";
import { openRestateEngine } from "./support/restate-engine.ts";
import { startRestateServer, type RestateServer } from "./support/restate-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binary.ts";
import { startWorker } from "./support/worker-process.ts";

/** Watchers of one session. */
const WATCHERS = 4;
/** A child asks a person: the parent waits, is suspended and resumed. */
const scenario = ENGINE_SCENARIOS.find(({ name }) => name === "a-child-asks-people") as EngineScenario;

describe.skipIf(isWithoutServer)(`watchers of sessions that a worker of Restate executes${needsServer}`, () => {
  let folder: string;
  let server: RestateServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "keelson-restate-"));
    server = await startRestateServer(folder);
  }, 120_000);
  afterAll(async () => {
    await server?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  it("see each durable event once, in order, wherever their connections break [EV-14, EV-17]", { timeout: 3_600_000 }, async () => {
    const size = sampleSize("disconnects from sessions on Restate", { test: 30, ci: 100, soak: 1000 });
    const directory = await mkdtemp(join(tmpdir(), "keelson-watched-"));
    await using worker = await startWorker("scenario-worker.ts", [
      "--directory",
      directory,
      "--ingress",
      server.ingress,
      "--name",
      "watched",
    ]);
    await server.register(worker.url);
    const engine = openRestateEngine(directory, server.ingress, "watched");
    await using services = openServices(directory);
    let disconnects = 0;
    try {
      for (let play = 0; disconnects < size; play++) {
        const session = `${scenario.name}-${play}`;
        const stories = fc.sample(someBreaks, { numRuns: WATCHERS, seed: seed + play });
        const head = (): Promise<number> => services.log.head(sessionLog(session));
        const watched = { session, watcher: createScenarioRunner(services, {}, [scenario]), head, isOver: endsAfter(1) };
        const [played, ...seen] = await Promise.all([
          playScenario({ ...scenario, name: session }, engine, AbortSignal.timeout(60_000)),
          ...stories.map((breaks) => watchWithBreaks(watched, breaks)),
        ]);
        expect(played.reason).toBe(scenario.ends.reason);
        const all = await readEvents(watched);
        expect(all.map(({ type }) => type)).toEqual(expect.arrayContaining(["child-end", "run-suspend", "run-resume"]));
        for (const { events } of seen) expect(events).toEqual(all);
        for (const one of seen) disconnects += one.disconnects;
      }
    } finally {
      await engine.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
