import type { RunId, SessionId } from "@keelson/protocol";
import { runnerInternals, type Agent } from "../../agent/index.ts";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "../../state/index.ts";
import { hasNews } from "../../agent/turn/has-news.ts";
import { foldSession } from "../../session/fold-session.ts";
import { createScenarioRunner, type ScenarioServices } from "./create-scenario-runner.ts";
import type { EngineScenario } from "./engine-scenario.ts";
import { scenarioClock } from "./scenario-clock.ts";
import type { ScenarioEngine } from "./scenario-engine.ts";

/**
 * What every engine is compared with: runs worked in one go by one runner, with everything in memory. Where one waits for a time, that
 * time has come.
 */
export async function openOneGo(directory: string, scenarios?: readonly EngineScenario[]): Promise<ScenarioEngine> {
  const clock = scenarioClock(directory);
  const services: ScenarioServices = {
    directory,
    log: createMemoryEventLog({ now: () => clock.now() }),
    blobs: createMemoryBlobStore(),
    ledger: createMemoryBudgetLedger(),
  };
  const runner = createScenarioRunner(services, {}, scenarios);

  /** Goes on as long as it waits for nothing but a time that is near. */
  async function untilItWaits(session: string): Promise<void> {
    const { run } = await foldSession(services.log, services.blobs, session as SessionId);
    if (run?.status !== "suspended") return;
    const at = Math.min(...run.waits.map((wait) => (wait.type === "timer" ? wait.at : Number.POSITIVE_INFINITY)));
    const left = at - clock.now();
    if (left > 10_000) return;
    clock.pass(Math.max(0, left));
    await work(session);
  }

  async function work(session: string): Promise<void> {
    await (
      await runner.resume(session)
    ).outcome;
    await untilItWaits(session);
  }

  return {
    services,
    async begin(session, input, { agent, id }) {
      const { find, start } = runnerInternals(runner);
      // As `run` does, under the id that every engine gives it.
      await start(find(agent) as Agent<unknown>, input, { session }, { id: id as RunId }).outcome;
      await untilItWaits(session);
    },
    async wake(session) {
      const { services: bound } = runnerInternals(runner);
      // Whom a wake tells nothing new is left as it is, as `advance` does.
      if (await hasNews(bound, await foldSession(services.log, services.blobs, session as SessionId))) await work(session);
    },
    async close() {
      await services.log[Symbol.asyncDispose]();
      await services.blobs[Symbol.asyncDispose]();
    },
  };
}
