import { describe } from "vitest";
import { describeCommands } from "./executor-contract/commands.ts";
import type { ExecutorContractOptions } from "./executor-contract/executor-subject.ts";
import { describeJobs } from "./executor-contract/jobs.ts";
import { describePipelines } from "./executor-contract/pipelines.ts";

/** The tests that every `Executor` with jobs and pipelines must pass. */
export function describeExecutor(name: string, options: ExecutorContractOptions): void {
  describe(`${name} keeps the Executor contract`, { timeout: 30_000 }, () => {
    describeCommands(options);
    describePipelines(options);
    describeJobs(options);
  });
}
