import { KeelsonError, LogError } from "@keelson/protocol";
import type { RehearsedSession } from "keelson";
import { foldSession } from "keelson/session";
import { policyAt } from "../core/agent-permissions.ts";
import { checkSandbox, createCodingExecutor } from "../core/coding-executor.ts";
import { createCodingRunner, type CodingRunner } from "../core/coding-runner.ts";
import type { CommandHost } from "../core/command-host.ts";
import { openModels, type ModelAccess } from "../core/model-access.ts";
import { readProjectRules } from "../core/project-rules.ts";
import { sessionIds } from "../core/session-folder.ts";
import type { Stores } from "../core/stores.ts";
import { repositoryRoot } from "../instructions/index.ts";
import { UsageError } from "../options/usage-error.ts";
import { serversOfRuns, UNATTENDED_WAIT_MS } from "../servers/servers-of-runs.ts";
import { createProjectTrust } from "../trust/project-trust.ts";
import { openTrustedProject } from "../trust/trusted-project.ts";
import { findSession, planLaunch } from "./plan-launch.ts";

/** What `keelson -r` would come to with every session that has an open run, or with one; nothing is written. */
export async function* rehearseSessions(stores: Stores, host: CommandHost, id?: string): AsyncGenerator<RehearsedSession> {
  const access = await openModels(host.environment);
  await using opened = new AsyncDisposableStack();
  for (const session of id === undefined ? (await sessionIds(stores.log)).map((found) => found.id) : [id]) {
    const runner =
      id === undefined && !(await mayBeOpen(stores, session)) ? undefined : await openRunner(stores, host, { access, session, opened });
    if (runner === undefined) continue;
    if ("verdict" in runner) yield runner;
    else yield* runner.rehearse({ sessions: [session] });
  }
}

/** A damaged one may be. */
async function mayBeOpen({ log, blobs }: Stores, session: string): Promise<boolean> {
  try {
    const { run } = await foldSession(log, blobs, session as RehearsedSession["session"]);
    return run !== undefined && run.status !== "ended";
  } catch (error) {
    if (LogError.is(error) && !error.retryable) return true;
    throw error;
  }
}

/** The runner that would go on with a session: in its folder, with its permissions. Where there is none, why. */
async function openRunner(
  stores: Stores,
  host: CommandHost,
  { access, session, opened }: { readonly access: ModelAccess; readonly session: string; readonly opened: AsyncDisposableStack },
): Promise<CodingRunner | RehearsedSession> {
  try {
    const command = { session: { type: "named", id: session }, fork: false, agent: { rules: [] } } as const;
    const launch = await planLaunch(command, await findSession(command, stores, host), access, stores, host);
    const policy = await policyAt(launch.agent.policy);
    if (launch.agent.sandbox === true) await checkSandbox(createCodingExecutor(launch.cwd, { sandbox: true, policy }));
    const trust = createProjectTrust(stores.home, await repositoryRoot(launch.cwd));
    // A rehearsal starts none.
    const { toolSources } = opened.use(
      await serversOfRuns({
        launch,
        policy,
        home: stores.home,
        trust,
        environment: host.environment,
        startupWaitMs: UNATTENDED_WAIT_MS,
        onLeftOut() {},
        onProblem() {},
      }),
    );
    return createCodingRunner({
      stores,
      models: access.models,
      launch,
      policy,
      toolSources,
      projectRules: await readProjectRules(stores.home, launch.cwd),
      // What is left out is told where the session is gone on with.
      project: await openTrustedProject(trust, () => {}),
    });
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof KeelsonError)) throw error;
    return {
      session: session as RehearsedSession["session"],
      verdict: "refused",
      reason: error.message,
      action: error instanceof UsageError ? error.hint : `${host.command} -p -r ${session} would fail with this.`,
      changed: false,
      isSafe: false,
    };
  }
}
