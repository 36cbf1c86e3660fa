import { KeelsonError, LogError } from "@keelson/protocol";
import type { RehearsedSession } from "keelson";
import { foldSession } from "keelson/session";
import { policyAt } from "../core/agent-permissions.ts";
import { createCodingRunner, type CodingRunner } from "../core/coding-runner.ts";
import type { CommandHost } from "../core/command-host.ts";
import { openModels, type ModelAccess } from "../core/model-access.ts";
import { readProjectRules } from "../core/project-rules.ts";
import { settleSandbox } from "../core/settle-sandbox.ts";
import { sessionIds } from "../core/session-folder.ts";
import type { Stores } from "../core/stores.ts";
import { repositoryRoot } from "../instructions/index.ts";
import { UsageError } from "../options/usage-error.ts";
import { type ServersOfRuns, serversOfRuns, UNATTENDED_WAIT_MS } from "../servers/servers-of-runs.ts";
import { createProjectTrust } from "../trust/project-trust.ts";
import { openTrustedProject } from "../trust/trusted-project.ts";
import { findSession, planLaunch } from "./plan-launch.ts";

/** What `keelson -r` would come to with every session that has an open run, or with one; nothing is written. */
export async function* rehearseSessions(stores: Stores, host: CommandHost, id?: string): AsyncGenerator<RehearsedSession> {
  const access = await openModels(host.environment);
  for (const session of id === undefined ? (await sessionIds(stores.log)).map((found) => found.id) : [id]) {
    if (id === undefined && !(await mayBeOpen(stores, session))) continue;
    const opened = await openRunner(stores, host, { access, session });
    if ("verdict" in opened) {
      yield opened;
      continue;
    }
    await using _ = opened.servers;
    yield* opened.runner.rehearse({ sessions: [session] });
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

interface OpenedRunner {
  readonly runner: CodingRunner;
  readonly servers: ServersOfRuns;
}

/** The runner that would go on with a session: in its folder, with its permissions. Where there is none, why. */
async function openRunner(
  stores: Stores,
  host: CommandHost,
  { access, session }: { readonly access: ModelAccess; readonly session: string },
): Promise<OpenedRunner | RehearsedSession> {
  try {
    const command = { session: { type: "named", id: session }, fork: false, trust: false, agent: { rules: [] } } as const;
    const planned = await planLaunch(command, await findSession(command, stores, host), access, stores, host);
    const policy = await policyAt(planned.agent.policy);
    const { launch } = await settleSandbox(planned, policy);
    const trust = createProjectTrust(stores.home, await repositoryRoot(launch.cwd));
    const projectRules = await readProjectRules(stores.home, launch.cwd);
    // What is left out is told where the session is gone on with.
    const project = await openTrustedProject(trust, {
      policy,
      secrets: access.secrets,
      home: stores.home,
      environment: host.environment,
      onProblem() {},
      onLeftOut() {},
    });
    // A rehearsal starts no server.
    const servers = await serversOfRuns({
      launch,
      policy,
      home: stores.home,
      trust,
      environment: host.environment,
      startupWaitMs: UNATTENDED_WAIT_MS,
      onLeftOut() {},
      onProblem() {},
    });
    try {
      const { models, secrets } = access;
      const runner = createCodingRunner({
        stores,
        models,
        secrets,
        launch,
        policy,
        toolSources: servers.toolSources,
        projectRules,
        project,
      });
      return { runner, servers };
    } catch (error) {
      await servers[Symbol.asyncDispose]();
      throw error;
    }
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
