import { createDurableOrchestrator } from "keelson/orchestration";
import type { Agents, NextAdvance, Runner } from "keelson/agent";
import { createScenarioRunner, type ScenarioEngine, type ScenarioServices } from "keelson/testing/engines";

/** Where a session's turn is worked: here, or in a process of its own. */
export type Advance = (session: string) => Promise<NextAdvance>;

export interface AdvancingEngineOptions {
  readonly services: Omit<ScenarioServices, "orchestrator">;
  /** Whether children work apart from their parents' turns. */
  readonly childrenApart: boolean;
  readonly advance: (runner: Runner<Agents>, wake: (session: string) => Promise<void>) => Advance;
  readonly close: () => Promise<void>;
}

/** Advances whatever is due, one turn at a time, each session by itself: what an engine does, and no more. */
export function openAdvancingEngine({ services, childrenApart, advance: advanceBy, close }: AdvancingEngineOptions): ScenarioEngine {
  /** Sessions that are advanced, and whether they were woken meanwhile. */
  const working = new Map<string, { woken: boolean; readonly over: Promise<void> }>();
  const timers = new Map<string, NodeJS.Timeout>();

  const wake = async (session: string): Promise<void> => {
    const work = working.get(session);
    if (work !== undefined) work.woken = true;
    else working.set(session, { woken: false, over: advanceUntilItWaits(session) });
  };

  async function advanceUntilItWaits(session: string): Promise<void> {
    // Registered first.
    await Promise.resolve();
    const work = working.get(session);
    if (work === undefined) return;
    clearTimeout(timers.get(session));
    timers.delete(session);
    let next: NextAdvance;
    do {
      work.woken = false;
      next = await advance(session);
    } while (next.type === "now" || work.woken);
    working.delete(session);
    if (next.type === "at")
      timers.set(
        session,
        setTimeout(() => void wake(session), Math.max(0, next.at - Date.now())),
      );
  }

  const orchestrator = createDurableOrchestrator({ runner: () => runner, wake });
  const shared: ScenarioServices = { ...services, ...(childrenApart && { orchestrator }) };
  const runner = createScenarioRunner(shared);
  const advance = advanceBy(runner, wake);
  return {
    services: shared,
    async begin(session, input, options) {
      await runner.begin(session, input, options);
      await wake(session);
    },
    wake,
    async close() {
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all([...working.values()].map(({ over }) => over));
      await close();
    },
  };
}
