import { realpath, stat } from "node:fs/promises";
import { AgentError, type SessionId, sessionLog } from "@keelson/protocol";
import { foldSession, modelSetSince } from "keelson/session";
import { homePolicy } from "../core/agent-permissions.ts";
import { givenPath } from "../core/given-path.ts";
import type { CommandHost } from "../core/command-host.ts";
import { type Launch, launchFromMetadata, mergedOptions } from "../core/launch.ts";
import { userOf } from "../core/user-of.ts";
import { sessionFacts } from "../core/session-facts.ts";
import { sessionNamed } from "../core/listed-session.ts";
import { accessVariable, type ModelAccess, VENDORS } from "../core/model-access.ts";
import { loadSettings } from "../settings/load-settings.ts";
import type { SettingsValues } from "../settings/settings-values.ts";
import { createProjectTrust, trustAll } from "../trust/project-trust.ts";
import { repositoryRoot } from "../instructions/index.ts";
import { printable } from "../text/printable.ts";
import type { ResolvedModel } from "keelson/providers";
import { BRANCH_PREFIX, ownWorktreeAt } from "../worktrees/own-worktrees.ts";
import { firstTags, folderOfTags, newestSession } from "../core/session-folder.ts";
import type { Stores } from "../core/stores.ts";
import type { AgentOptions, RunCommand } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";

export interface FoundSession {
  readonly id: SessionId;
  /** It has a run that is suspended or was interrupted. */
  readonly open: boolean;
  readonly model: string | undefined;
  /** What somebody changed it to since its last run was started. */
  readonly setModel: string | undefined;
  readonly launch: ReturnType<typeof launchFromMetadata>;
  /** The folder that it was made for. Absent: it was made without one. */
  readonly folder?: string;
}

/** The session that a command goes on with, where it goes on with one. */
export async function findSession(
  { session, fork, cwd }: Pick<RunCommand, "session" | "fork" | "cwd">,
  stores: Stores,
  host: CommandHost,
): Promise<FoundSession | undefined> {
  if (session.type === "new" || session.type === "choose") return undefined;
  const folder = await workingFolder(host, cwd);
  const id =
    session.type === "named"
      ? ((await sessionNamed(stores.log, session.id)) as SessionId)
      : await newestSession(stores.log, folder, (one, tags) => isOwnTurn(one, tags, stores, host));
  if (id === undefined) throw noSession(folder);
  if ((await stores.log.head(sessionLog(id))) === 0)
    throw new AgentError({
      kind: "session",
      session: id,
      message: `There is no session "${id}". Run keelson sessions list --all to see which there are.`,
    });
  const state = await foldSession(stores.log, stores.blobs, id);
  const { run } = state;
  const known = { model: run?.model, setModel: await modelSetSince(stores.log, state), launch: launchFromMetadata(run?.metadata) };
  const made = folderOfTags(await firstTags(stores.log, id));
  return { id, open: run !== undefined && run.status !== "ended" && !fork, ...known, ...(made !== undefined && { folder: made }) };
}

/** False for a session that waits for the answer of another person, or of a client: going on with it here would take the question from them. */
async function isOwnTurn(
  id: SessionId,
  tags: readonly string[],
  { log, blobs }: Stores,
  { environment, stderr, command }: CommandHost,
): Promise<boolean> {
  const { run } = await foldSession(log, blobs, id).catch(() => ({ run: undefined }));
  if (run === undefined || run.status !== "suspended" || !run.waits.some(({ type }) => type === "approval" || type === "decision"))
    return true;
  const starter = launchFromMetadata(run.metadata)?.user;
  const [user, isOfClient] = [userOf(environment), tags.includes("mcp")];
  if (!isOfClient && (starter === undefined || user === undefined || starter === user)) return true;
  const whom = isOfClient ? "a client of keelson mcp serve" : starter;
  stderr.write(`keelson: session ${id} waits for an answer of ${whom} and was passed over; to continue it: ${command} -r ${id}\n`);
  return false;
}

/**
 * A run that goes on is the run it was: its folder, permissions and limits are part of its log.
 * A new run in an old session takes over only the folder and the model: yesterday's permissions were for yesterday's task.
 */
export async function planLaunch(
  command: Pick<RunCommand, "agent" | "cwd" | "trust">,
  found: FoundSession | undefined,
  access: ModelAccess,
  { home }: Stores,
  host: CommandHost,
): Promise<Launch> {
  const recorded = found?.launch?.agent ?? { rules: [] };
  const last = found?.setModel ?? recorded.model;
  const inherited: AgentOptions = { ...(found?.open ? recorded : { rules: [] }), ...(last !== undefined && { model: last }) };
  const given = found?.open ? command.agent : await confinementOf(command.agent, home, host);
  const recordedFolder = command.cwd === undefined ? (found?.launch?.cwd ?? found?.folder) : undefined;
  const cwd = recordedFolder === undefined ? await workingFolder(host, command.cwd) : await folderOfSession(recordedFolder, home);
  const settings = found?.open ? NO_DEFAULTS : await defaultsOf(cwd, command.trust, home, access, host);
  const merged = mergedOptions({ ...settings.usable, ...inherited }, given);
  const model = merged.model ?? found?.model ?? (await access.defaultModel());
  if (model === undefined) throw noModel(access);
  // Found out now, as a usage error, rather than in the middle of a run.
  for (const reference of [model, merged.fallbackModel]) if (reference !== undefined) checkModel(access, reference);
  const isDefault = given.effort === undefined && inherited.effort === undefined;
  const { options, reason } = isDefault ? withUsableEffort(merged, access.models.resolve(model)) : { options: merged };
  const unused = [...(given.model === undefined && last === undefined ? settings.unused : []), ...(reason === undefined ? [] : [reason])];
  for (const line of unused) host.stderr.write(`keelson: ${printable(line)}\n`);
  // A log from before there was a default says nothing of a sandbox if there was none.
  const { facts, user } = await begunWith(cwd, options, found, host);
  const begun = { ...(facts !== undefined && { facts }), ...(user !== undefined && { user }) };
  return {
    cwd,
    agent: { ...options, model },
    ...begun,
    ...(found?.open && { inSandbox: found.launch?.inSandbox ?? recorded.sandbox === true }),
    ...(found?.open && found.launch?.presentsPlans && { presentsPlans: true as const }),
  };
}

/** A session keeps the facts that it began with, so that later runs and a resume have the same prompt. */
async function begunWith(
  cwd: string,
  { folders = [] }: AgentOptions,
  found: FoundSession | undefined,
  { environment, now }: CommandHost,
): Promise<Pick<Launch, "facts" | "user">> {
  if (found?.open) return { facts: found.launch?.facts, user: found.launch?.user } as Pick<Launch, "facts" | "user">;
  const known = found?.launch?.cwd === cwd ? found.launch.facts : undefined;
  const facts = known ?? sessionFacts({ cwd, project: await repositoryRoot(cwd), folders, environment, now: now() });
  const user = userOf(environment);
  return { facts, ...(user !== undefined && { user }) };
}

/** Values of settings that hold where no option says otherwise. */
interface Defaults {
  readonly usable: Pick<SettingsValues, "model" | "fallbackModel" | "effort">;
  /** A line for each model that is not used. */
  readonly unused: readonly string[];
}

const NO_DEFAULTS: Defaults = { usable: {}, unused: [] };

/** The model and the effort that settings name. A model without a key is no default: the file may be of another program. */
async function defaultsOf(
  cwd: string,
  trusts: boolean,
  home: Stores["home"],
  { models }: ModelAccess,
  { environment }: CommandHost,
): Promise<Defaults> {
  const project = await repositoryRoot(cwd);
  const trust = trusts ? trustAll(project) : createProjectTrust(home, project);
  const { values } = await loadSettings({ home: home.path, environment, trust });
  const { model, fallbackModel, effort } = values;
  const unused = [model, fallbackModel].filter((name) => name !== undefined && !canResolve(models, name));
  return {
    usable: {
      ...(model !== undefined && canResolve(models, model) && { model }),
      ...(fallbackModel !== undefined && canResolve(models, fallbackModel) && { fallbackModel }),
      ...(effort !== undefined && { effort }),
    },
    unused: unused.map((name) => `the model ${name} of settings is not used: there is no key for it (keelson doctor says which there are)`),
  };
}

/** An effort of settings is meant for models that take one. */
function withUsableEffort(
  options: AgentOptions,
  { reference, facts }: ResolvedModel,
): { readonly options: AgentOptions; readonly reason?: string } {
  const { effort, ...others } = options;
  const { capabilities, supportedEffortLevels: levels } = facts;
  if (effort === undefined || (capabilities?.effortLevels !== false && levels?.includes(effort) !== false)) return { options };
  const takes = capabilities?.effortLevels === false || levels === undefined ? "no effort" : levels.join(", ");
  return { options: others, reason: `effort ${effort} of settings is not used: ${reference} takes ${takes}` };
}

export function canResolve(models: ModelAccess["models"], reference: string): boolean {
  try {
    models.resolve(reference);
    return true;
  } catch {
    return false;
  }
}

/** What a person set for every run holds where the command says nothing of it. */
export async function confinementOf(
  agent: AgentOptions,
  home: Stores["home"],
  { cwd, environment }: Pick<CommandHost, "cwd" | "environment">,
): Promise<AgentOptions> {
  const policy = agent.policy === undefined ? await homePolicy(home) : givenPath(cwd, agent.policy, environment);
  const mcpConfig = agent.mcpConfig === undefined ? undefined : await serversAt(givenPath(cwd, agent.mcpConfig, environment));
  const folders =
    agent.folders && (await Promise.all(agent.folders.map((folder) => folderAt(givenPath(cwd, folder, environment), "--add-dir"))));
  const sandbox = agent.sandbox ?? sandboxSetting(environment);
  return {
    ...agent,
    ...(policy !== undefined && { policy }),
    ...(sandbox !== undefined && { sandbox }),
    ...(mcpConfig !== undefined && { mcpConfig }),
    ...(folders !== undefined && { folders }),
  };
}

/** The setting `KEELSON_SANDBOX`: `undefined` if it says nothing. A word that is not known asks for a sandbox. */
export function sandboxSetting(environment: CommandHost["environment"]): boolean | undefined {
  const word = environment["KEELSON_SANDBOX"]?.trim().toLowerCase();
  return word === undefined || word === "" ? undefined : !["0", "false", "off", "no"].includes(word);
}

async function serversAt(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`${path} is no file`, "Give --mcp-config the path of a JSON file with MCP servers.");
  return path;
}

function checkModel({ models }: ModelAccess, reference: string): void {
  try {
    models.resolve(reference);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), keyHint());
  }
}

function noModel({ models }: ModelAccess): UsageError {
  const there = Object.keys(models.providers);
  return there.length === 0
    ? new UsageError("there is no key for a model", keyHint())
    : new UsageError("no model was named", `Add --model ${there[0]}/<id>. For one that is taken without being named: ${keyHint()}`);
}

function keyHint(): string {
  return `Set ${VENDORS.map(accessVariable).join(" or ")} (and --model provider/id for another model than the default). keelson doctor says what is there.`;
}

export function workingFolder({ cwd, environment }: Pick<CommandHost, "cwd" | "environment">, given = "."): Promise<string> {
  return folderAt(givenPath(cwd, given, environment), "-C");
}

async function folderAt(folder: string, option: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new UsageError(`${folder} is no folder`, `Give ${option} a folder that exists.`);
  return realpath(folder);
}

/** @throws UsageError if the folder of a session is gone */
async function folderOfSession(folder: string, home: Stores["home"]): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory()) return folder;
  const own = ownWorktreeAt(folder, home.path);
  throw new UsageError(
    `the folder ${folder}, in which the session works, is gone`,
    own === undefined
      ? "Bring it back, or go on in another folder: add -C <folder>."
      : `It was the worktree ${own.name}. In the repository, git worktree prune && git worktree add ${own.root} ${BRANCH_PREFIX}${own.name} brings it back from its branch. Or go on in another folder: add -C <folder>.`,
  );
}

export function noSession(folder: string): UsageError {
  return new UsageError(
    `there is no session of ${folder} to go on with`,
    "keelson sessions list --all shows the sessions of every folder.",
  );
}
