import type { JobInfo, SessionId } from "@keelson/protocol";
import type { ModelRegistry } from "keelson/providers";
import type { KnownSecrets } from "../core/known-secrets.ts";
import { forkSession } from "../core/new-session.ts";
import { folderTags } from "../core/session-folder.ts";
import type { Stores } from "../core/stores.ts";
import { type OpenSession, openSession } from "./open-session.ts";
import type { SessionPlan, SessionPlanner } from "./session-plan.ts";
import { openWorkplace, type Workplace, type WorkplaceOptions } from "./workplace.ts";

/** The session of a conversation, which can be left for another one without a new process. */
export interface CurrentSession extends AsyncDisposable {
  readonly session: OpenSession;
  /** Leaves the session for a new one in the same folder, with the same terms. */
  begin(): Promise<void>;
  /** Leaves it for another one. @param id the whole id, or its beginning. @returns true if it has a run that is not finished */
  go(id: string): Promise<boolean>;
  /** Leaves it for a copy. @returns the id of the copy */
  fork(): Promise<SessionId>;
  /** The commands that run in the background, or did, in all sessions that were open in this process. */
  jobs(): Promise<readonly JobInfo[]>;
}

export interface CurrentSessionOptions extends Pick<WorkplaceOptions, "environment" | "onLeftOut" | "onProblem"> {
  readonly stores: Stores;
  readonly models: ModelRegistry;
  readonly secrets: KnownSecrets;
  readonly planner: SessionPlanner;
  /** Unix ms. */
  readonly now: () => number;
  /** Called with each session that is opened, the first one included, before anything runs in it. */
  onOpened(session: OpenSession): Promise<void> | void;
}

/** Opens the first session of a conversation. */
export async function openCurrentSession(first: SessionPlan, options: CurrentSessionOptions): Promise<CurrentSession> {
  const { stores, models, secrets, planner, now, environment, onLeftOut, onProblem, onOpened } = options;
  const placeOptions: WorkplaceOptions = { home: stores.home, secrets, environment, now, onLeftOut, onProblem };
  /** Earlier sessions of this process: what they started in the background goes on. */
  const left: OpenSession[] = [];
  let current = await openedIn(first);

  async function opened(plan: SessionPlan, place: Workplace, notes: readonly string[] = []): Promise<OpenSession> {
    const session = openSession({ plan, place, stores, models, secrets, now, notes });
    await onOpened(session);
    return session;
  }

  /** Opens a workplace and a session in it; of a session that cannot be opened nothing is left. */
  async function openedIn(plan: SessionPlan, notes?: readonly string[]): Promise<OpenSession> {
    const place = await openWorkplace(plan, placeOptions);
    try {
      return await opened(plan, place, notes);
    } catch (error) {
      await place[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Opens another session first, so that this one stays open if that fails. */
  async function replace(plan: SessionPlan, notes?: readonly string[]): Promise<void> {
    const { place } = current;
    const next = place.isFor(plan) ? await opened(plan, place, notes) : await openedIn(plan, notes);
    left.push(current);
    current = next;
    if (next.place !== place) await place[Symbol.asyncDispose]();
  }

  return {
    get session() {
      return current;
    },
    async begin() {
      const { plan, terms } = current;
      await replace(await planner.plan({ type: "new", cwd: plan.launch.cwd, terms }));
    },
    async go(id) {
      const plan = await planner.plan({ type: "named", id, terms: current.terms });
      await replace(plan);
      return plan.resume;
    },
    async fork() {
      const { id, plan, terms, runner, notes } = current;
      if (id === undefined) throw new Error("There is nothing to copy yet: this session begins with your first message.");
      const fork = await forkSession(runner, id, folderTags(plan.launch.cwd, stores.home.path));
      await replace(await planner.plan({ type: "named", id: fork, terms }), notes);
      // A model that was chosen since the last run is not in the log yet.
      current.change(terms);
      return fork;
    },
    async jobs() {
      const lists = await Promise.all([...left, current].map((session) => session.jobs()));
      return lists.flat();
    },
    [Symbol.asyncDispose]: () => current.place[Symbol.asyncDispose](),
  };
}
