import { addUsd, type AgentEvent, type JobInfo, type Usd, ZERO_USD } from "@keelson/protocol";
import type { SessionView } from "keelson";
import type { ModelRegistry } from "keelson/providers";
import { compactedAt } from "../core/compaction.ts";
import { contextWindowOf } from "../core/context-window.ts";
import { readBranch } from "../core/git-state.ts";
import type { RunTerms } from "../core/run-terms.ts";
import type { StatusFacts } from "../render/status-line.ts";

/** The facts of the status line, kept up to date by the events of runs. */
export interface SessionStatus {
  facts(): StatusFacts;
  /** Sees an event of a run, those of its children included. */
  see(event: AgentEvent): void;
  /** Reads everything again: another session is open. */
  refresh(): Promise<void>;
  /** Reads the branch again: a command of the person may have switched it. */
  readBranch(): void;
}

/** The part of an open session that the status line shows. */
export interface StatusSource {
  readonly terms: RunTerms;
  readonly cwd: string;
  readonly inSandbox: boolean;
  /** `undefined` before the first message. */
  view(): Promise<Pick<SessionView, "metadata" | "context"> | undefined>;
  jobs(): Promise<readonly JobInfo[]>;
}

export interface SessionStatusOptions {
  /** The session that is open. */
  source(): StatusSource;
  readonly models: Pick<ModelRegistry, "resolve">;
  /** Called when the facts are others. */
  changed(): void;
  /** Called with each reason why facts are not up to date. */
  onProblem(error: unknown): void;
}

export function createSessionStatus({ source, models, changed, onProblem }: SessionStatusOptions): SessionStatus {
  /** The cost of the runs that are over. */
  let cost: Usd | null = ZERO_USD;
  /** The cost of the run under way, by its events. */
  let running: Usd | null = ZERO_USD;
  let context: number | undefined;
  let jobs = 0;
  let branch: string | undefined;
  /** The latest reading: an earlier one that takes longer must not replace what it found. */
  let reading = 0;

  function readBranchNow(): void {
    branch = readBranch(source().cwd);
  }

  async function countJobs(): Promise<void> {
    jobs = (await source().jobs()).filter(({ status }) => status === "running").length;
    changed();
  }

  async function readSession(): Promise<void> {
    const mine = ++reading;
    const view = await source().view();
    if (mine !== reading) return;
    cost = view === undefined ? ZERO_USD : view.metadata.cost;
    running = ZERO_USD;
    if (context === undefined) context = view === undefined ? undefined : utilizationOf(view, models);
    changed();
  }

  const background = (work: Promise<void>): void => void work.catch(onProblem);

  return {
    facts() {
      const { terms, inSandbox } = source();
      return {
        ...{ ...terms, context, inSandbox, jobs, branch },
        compactAt: compactedAt(models, terms.model),
        cost: cost === null || running === null ? null : addUsd(cost, running),
      };
    },
    see(event) {
      const isOwn = event.path === undefined || event.path.length === 0;
      switch (event.type) {
        case "usage":
          running = running === null || event.cost === null ? null : addUsd(running, event.cost);
          if (isOwn && typeof event.contextUtilization === "number") context = event.contextUtilization;
          break;
        case "compaction":
          if (isOwn) context = undefined;
          break;
        case "tool-result":
          // A command may have switched the branch, or be one that goes on in the background.
          if (event.changed === true || event.name.includes("bash")) {
            readBranchNow();
            background(countJobs());
          }
          break;
        case "turn-start":
          background(countJobs());
          break;
        case "run-complete":
        case "run-suspend":
        case "error":
          if (isOwn) {
            readBranchNow();
            background(countJobs());
            background(readSession());
          }
          break;
        default:
          return;
      }
      changed();
    },
    readBranch() {
      readBranchNow();
      changed();
    },
    async refresh() {
      context = undefined;
      readBranchNow();
      await Promise.all([readSession(), countJobs()]);
    },
  };
}

function utilizationOf({ context }: Pick<SessionView, "context">, models: Pick<ModelRegistry, "resolve">): number | undefined {
  const contextWindow = context && contextWindowOf(models, context.model);
  return context === undefined || contextWindow === undefined ? undefined : Math.min(1, context.tokens / contextWindow);
}
