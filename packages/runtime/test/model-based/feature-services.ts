import { type BlobStore, type BudgetLedger, DirectiveError, type EffectExecutor } from "@keelson/protocol";
import type { TaskRunner } from "keelson/agent";
import { createLocalEffectExecutor } from "keelson/orchestration";
import { createMemoryBudgetLedger } from "keelson/state";
import { actWith, type Stage } from "./acting.ts";
import type { Features } from "./features.ts";
import type { ProcessClock, VirtualClock } from "./virtual-clock.ts";

/** Carries out effects in one process, and fails where the story says so. */
export function executorOf({ effects }: Features, stage: Stage, blobs: BlobStore): EffectExecutor {
  const { witness } = stage;
  const plan = effects?.executor ?? ({ conduct: "sync", from: 0 } as const);
  const local = createLocalEffectExecutor({
    blobs,
    instructions: { look: () => "Nothing to see." },
    effects: { "custom": () => undefined, "write-memory": () => undefined },
    directives: { custom: ({ payload }) => (payload === "hello" ? "Hello yourself." : undefined) },
  });
  return {
    supports: (effect) => local.supports(effect),
    async execute(effect, context) {
      const { idempotencyKey: id, runId, attempt } = context;
      const execute = async (): ReturnType<EffectExecutor["execute"]> => local.execute(effect, context);
      const stopped = stage.process.pass();
      if (stopped) return stopped;
      witness.effects.push({ id, runId, attempt });
      const value = await actWith(stage, "executor", plan, execute, { anywhere: true });
      if (typeof value === "object" && value !== null && "huge" in value)
        throw new DirectiveError({ kind: "execution-failed", directive: "any", message: "nonsense" });
      return value;
    },
  };
}

export function tasksOf({ background }: Features, stage: Stage): TaskRunner {
  return {
    run: (_description, input, { progress, signal }) => {
      progress({ part: 0.5 });
      signal.addEventListener("abort", () => progress("after the end"), { once: true });
      return actWith(stage, "task", background.task, () => ({ dug: input }), { anywhere: true });
    },
  };
}

/** A ledger that the processes of a story share, or that begins anew with each. */
export function ledgersOf({ budgets }: Features, clock: VirtualClock, isDeadOwner: (owner: string) => boolean): () => BudgetLedger {
  const own: ProcessClock = clock.ofProcess();
  const create = (): BudgetLedger =>
    createMemoryBudgetLedger({
      now: () => own.now(),
      isDeadOwner,
      poll(tick, everyMs) {
        let isOver = false;
        const again = (): void =>
          void own.sleep(everyMs).then(() => {
            if (isOver) return;
            tick();
            again();
          });
        again();
        return () => {
          isOver = true;
        };
      },
    });
  const lasting = create();
  return () => (budgets?.lasts === false ? create() : lasting);
}
