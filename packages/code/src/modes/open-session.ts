import type { Content, Executor, JobInfo, SessionId } from "@keelson/protocol";
import type { Run, RunInput } from "keelson";
import type { ModelRegistry } from "keelson/providers";
import { modeOf } from "../core/agent-permissions.ts";
import { compactedAt } from "../core/compaction.ts";
import { EFFORT_LEVELS } from "../core/effort-levels.ts";
import { type CodingRunner, createCodingRunner } from "../core/coding-runner.ts";
import type { KnownSecrets } from "../core/known-secrets.ts";
import { type Launch, launchToMetadata } from "../core/launch.ts";
import { newSession } from "../core/new-session.ts";
import { allowInProject } from "../core/project-rules.ts";
import { launchWith, type RunTerms } from "../core/run-terms.ts";
import { folderTags } from "../core/session-folder.ts";
import type { Stores } from "../core/stores.ts";
import { rewoundText } from "../history/index.ts";
import type { ConversationSession } from "./conversation-session.ts";
import { settingsOptions } from "./run-settings.ts";
import type { SessionPlan } from "./session-plan.ts";
import type { Workplace } from "./workplace.ts";

/** The session that a conversation has open, with the runner that works on it. */
export interface OpenSession extends ConversationSession {
  /** `undefined`: its first message makes it. */
  readonly id: SessionId | undefined;
  readonly plan: SessionPlan;
  readonly place: Workplace;
  readonly runner: CodingRunner;
  /** Runs programs as the agent does. */
  readonly exec: Executor;
  /** The commands that the agent runs, or ran, in the background. */
  jobs(): Promise<readonly JobInfo[]>;
  /** Adds a note to the next message: these files are not as the agent left them. */
  noteChanges(paths: readonly string[], action: "undo" | "redo"): void;
  /** The notes that the agent has not received yet. A copy of the session needs them. */
  readonly notes: readonly string[];
}

export interface OpenSessionOptions {
  readonly plan: SessionPlan;
  readonly place: Workplace;
  readonly stores: Stores;
  readonly models: ModelRegistry;
  readonly secrets: KnownSecrets;
  /** Unix ms. */
  readonly now: () => number;
  /** Notes for the next message. */
  readonly notes?: readonly string[];
}

// A person may go for lunch; after that the run suspends, and anybody can decide and resume it.
const APPROVAL_WAIT_MS = 60 * 60 * 1_000;

/** Opens a session. Nothing of a new one is kept before its first message: who opens and leaves leaves nothing behind. */
export function openSession({ plan, place, stores, models, secrets, now, notes: given = [] }: OpenSessionOptions): OpenSession {
  const { launch, policy, projectRules } = plan;
  const { project, servers, history } = place;
  let executors: readonly Executor[] = [];
  const runner = createCodingRunner({
    ...{ stores, models, secrets, launch, policy, projectRules, project, history },
    toolSources: servers.toolSources,
    approvalWaitMs: APPROVAL_WAIT_MS,
    onExecutors: (made) => void (executors = made),
  });
  /** The terms that the agent was made with. */
  const made: RunTerms = { model: launch.agent.model, mode: modeOf(launch.agent, policy, project.settings), effort: launch.agent.effort };
  let id = plan.session;
  let terms = made;
  let notes = given;

  async function start(content: RunInput): Promise<Run<unknown>> {
    const session = id ?? (await newSession(runner, folderTags(launch.cwd, stores.home.path)));
    id = session;
    history.mark(session);
    const told = typeof content === "string" ? [...notes, content].join("\n\n") : [...notes.map(textPart), ...content];
    const current: Launch = launchWith(launch, made, terms);
    const limits = { onBudget: launch.agent.onBudget ?? "ask" };
    const options = { session, model: terms.model, limits, metadata: launchToMetadata(current), ...settingsOptions(made, terms) };
    const run = await runner.run(told, options);
    notes = [];
    return run;
  }

  return {
    ...{ plan, place, runner, start },
    get id() {
      return id;
    },
    get terms() {
      return terms;
    },
    get notes() {
      return notes;
    },
    change(changed) {
      if (changed.model !== undefined) models.resolve(changed.model);
      // The agent of a run has the effort that it was made with, whatever was set before.
      const { effort = made.effort } = "effort" in changed ? changed : terms;
      terms = { ...terms, ...changed, effort };
    },
    effortsOf(model) {
      const { capabilities, supportedEffortLevels } = models.resolve(model).facts;
      return capabilities?.effortLevels === false ? [] : (supportedEffortLevels ?? EFFORT_LEVELS);
    },
    compactAt: () => compactedAt(models, terms.model),
    async resume() {
      if (id === undefined) throw new Error("There is no session to continue.");
      return runner.resume(id);
    },
    get exec() {
      const [exec] = executors;
      if (exec === undefined) throw new Error("The session has no programs.");
      return exec;
    },
    allowInProject: (rules) => allowInProject(stores.home, launch.cwd, rules, now()),
    async jobs() {
      const lists = await Promise.all(executors.map(async ({ jobs }) => (jobs === undefined ? [] : jobs.list())));
      return lists.flat();
    },
    noteChanges(paths, action) {
      notes = [...notes, rewoundText(paths, action)];
    },
  };
}

function textPart(text: string): Extract<Content, { readonly type: "text" }> {
  return { type: "text", text };
}
