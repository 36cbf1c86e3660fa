import { execFile } from "node:child_process";
import { access, constants, realpath } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkSqliteDatabase } from "keelson/state";
import type { ConfiguredKeys } from "../core/configured-keys.ts";
import { compatibleAccess } from "../core/compatible-vendors.ts";
import { homePath, openHome } from "../core/home.ts";
import { accessVariable, openModels, VENDORS } from "../core/model-access.ts";
import { nodeVersionProblem } from "../core/node-version.ts";
import type { CommandHost } from "../core/command-host.ts";
import { givenPath } from "../core/given-path.ts";
import { homePolicy, policyAt } from "../core/agent-permissions.ts";
import { sandboxProblem } from "../core/settle-sandbox.ts";
import { openStores } from "../core/stores.ts";
import { repositoryRoot } from "../instructions/index.ts";
import type { DoctorCommand } from "../options/command-line.ts";
import { findingLines } from "../render/finding-lines.ts";
import { printableLine } from "../text/printable.ts";
import { sandboxSetting } from "./plan-launch.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { findServers } from "../servers/find-servers.ts";
import { createProjectTrust, trustAll } from "../trust/project-trust.ts";
import type { Finding } from "./finding.ts";
import { foundFindings } from "./found-findings.ts";
import { searchFinding } from "./search-finding.ts";
import { keysFinding, variablesFinding } from "./secret-findings.ts";
import { type ProviderCheck, checkProviders } from "./check-providers.ts";

/** Looks at everything a run needs and says what is wrong with it. @returns the exit code */
export async function doctor({ json, cwd }: DoctorCommand, host: CommandHost): Promise<number> {
  const { stdout, environment } = host;
  const findings = await doctorFindings(givenPath(host.cwd, cwd ?? ".", host.environment), host);
  if (json) stdout.write(`${JSON.stringify(findings)}\n`);
  else {
    const style = createStyle(wantsColors(stdout, environment));
    stdout.write(`${findingLines(findings, { style, ...(stdout.isTTY && { columns: stdout.columns }) }).join("\n")}\n`);
  }
  return findings.some(({ state }) => state === "broken") ? 1 : 0;
}

/**
 * Returns a finding for each thing that a run in a folder needs.
 * @param isTrusted true if all that the project brings is trusted, as with `--trust`
 */
export async function doctorFindings(
  folder: string,
  host: Pick<CommandHost, "environment" | "command">,
  isTrusted = false,
): Promise<readonly Finding[]> {
  const { environment } = host;
  const { finding: keysFound, keys } = await keysFinding(environment);
  const vendors = await vendorFindings(environment, keys);
  const ways = [...keyFindings(environment, vendors.length > 0, keys), ...vendors];
  const { providers } = (await openModels(environment, keys)).models;
  // A second wire to a vendor has the same key.
  const asked = Object.entries(providers).filter(([name]) => ways.some(({ what }) => what === name));
  const checks = await checkProviders(Object.fromEntries(asked));
  return [
    nodeFinding(process.versions.node),
    keysFound,
    ...ways.map((finding) => withCheck(finding, checks.get(finding.what))),
    await homeFinding(environment),
    databaseFinding(environment),
    await variablesFinding(environment),
    await folderFinding(folder),
    ...(await mcpFindings(folder, host, isTrusted)),
    ...(await foundFindings(folder, host, isTrusted)),
    await searchFinding(folder),
    await programFinding("bash", "commands run in sh instead"),
    await sandboxFinding(folder, environment),
  ];
}

export function nodeFinding(version: string): Finding {
  const problem = nodeVersionProblem(version);
  return { what: "Node", state: problem === undefined ? "ok" : "broken", detail: problem ?? version };
}

/** A key is never shown, only whether there is one. `others`: there are models without these. */
export function keyFindings(
  environment: { readonly [name: string]: string | undefined },
  others = false,
  keys: ConfiguredKeys = new Map(),
): Finding[] {
  const has = (name: string | undefined): boolean => name !== undefined && (environment[name] ?? "") !== "";
  const isHeld = (name: string | undefined): name is string => name !== undefined && keys.has(name);
  const any = others || VENDORS.some(({ key, baseUrl }) => has(key) || has(baseUrl) || isHeld(key));
  return VENDORS.map((vendor) => {
    const { name, key, baseUrl, defaultModel } = vendor;
    const address = withoutCredentials(environment[baseUrl] ?? "");
    const at = has(baseUrl) ? ` at ${address}` : "";
    if (has(key)) return { what: name, state: "ok", detail: `${key} is set${at}; default model ${defaultModel}` };
    if (isHeld(key))
      return {
        what: name,
        state: "ok",
        detail: `${key} is there (${keys.get(key)?.source}, by the file of keys)${at}; default model ${defaultModel}`,
      };
    if (has(baseUrl)) return { what: name, state: "ok", detail: key === undefined ? `models of ${address}` : `no ${key}${at}` };
    const missing = `${accessVariable(vendor)} is not set`;
    return {
      what: name,
      state: any ? "missing" : "broken",
      detail: any ? missing : `${missing}: set one of ${VENDORS.map(accessVariable).join(", ")}`,
    };
  });
}

/** Vendors beside the usual ones are told only where there is a way to them. */
export async function vendorFindings(
  environment: { readonly [name: string]: string | undefined },
  keys: ConfiguredKeys = new Map(),
): Promise<Finding[]> {
  return (await compatibleAccess(environment, keys)).map(({ vendor, variables, baseUrl }) => ({
    what: vendor,
    state: "ok",
    detail: `${variables.join(" and ")} set${baseUrl === undefined ? "" : ` (${withoutCredentials(baseUrl)})`}; --model ${vendor}/<id>`,
  }));
}

/** Whether the key or the server is the wrong one. */
export function withCheck(finding: Finding, check: ProviderCheck | undefined): Finding {
  const { what, state, detail } = finding;
  if (check === undefined || state !== "ok") return finding;
  switch (check.type) {
    case "models":
      return { what, state, detail: `${detail}; it responds, with ${check.count} models` };
    case "no-list":
      return { what, state, detail: `${detail}; not tried, as it has no list of models` };
    case "refused":
      return { what, state: "broken", detail: `${detail}; it is refused: ${printableLine(check.reason)}` };
    case "unreachable":
      return { what, state: "broken", detail: `${detail}; the server can't be used: ${printableLine(check.reason)}` };
  }
}

function databaseFinding(environment: { readonly [name: string]: string | undefined }): Finding {
  const path = join(homePath(environment), "sessions.db");
  const problems = checkSqliteDatabase(path);
  if (problems.length === 0) return { what: "database", state: "ok", detail: `${path} is whole` };
  return {
    what: "database",
    state: "broken",
    detail: `${path} is damaged: ${problems.join("; ")}. Restore it from a backup, or save what is readable with sqlite3's .recover`,
  };
}

async function homeFinding(environment: { readonly [name: string]: string | undefined }): Promise<Finding> {
  try {
    await using stores = await openStores(environment);
    await stores.log.list({ limit: 1 });
    return { what: "home", state: "ok", detail: stores.home.path };
  } catch (error) {
    return { what: "home", state: "broken", detail: `${homePath(environment)}: ${messageOf(error)}` };
  }
}

async function folderFinding(folder: string): Promise<Finding> {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return { what: "folder", state: "ok", detail: folder };
  } catch (error) {
    return { what: "folder", state: "broken", detail: `${folder} cannot be worked in: ${messageOf(error)}` };
  }
}

/** None where no servers are configured; a home that can't be used is told elsewhere. */
async function mcpFindings(
  folder: string,
  { environment, command }: Pick<CommandHost, "environment" | "command">,
  isTrusted: boolean,
): Promise<readonly Finding[]> {
  const home = await openHome(environment).catch(() => undefined);
  const project = await realpath(folder).then(repositoryRoot, () => undefined);
  if (home === undefined || project === undefined) return [];
  const found = await findServers({ home, trust: isTrusted ? trustAll(project) : createProjectTrust(home, project), environment });
  if (found.servers.length === 0 && found.problems.length === 0) return [];
  const { serverFindings, packagesFinding } = await import("./server-findings.ts");
  const { mcpClientProblem } = await import("keelson/mcp");
  return [packagesFinding(await mcpClientProblem()), ...(await serverFindings(found, { environment, command, folder }))];
}

/** Says whether commands run in a sandbox, and the reason if they do not. */
async function sandboxFinding(folder: string, environment: CommandHost["environment"]): Promise<Finding> {
  const what = "sandbox";
  const setting = sandboxSetting(environment);
  if (setting === false)
    return { what, state: "missing", detail: "switched off by KEELSON_SANDBOX: commands run with the rights of your user" };
  const home = await openHome(environment).catch(() => undefined);
  try {
    const policy = await policyAt(home && (await homePolicy(home)));
    const problem = await sandboxProblem(folder, policy);
    if (problem === undefined) return { what, state: "ok", detail: `commands run in a sandbox (${await firstLine("bwrap")})` };
    const isRefused = setting === true || (policy !== undefined && (await sandboxProblem(folder, undefined)) === undefined);
    if (isRefused) return { what, state: "broken", detail: `no run starts: ${problem}` };
    return { what, state: "missing", detail: `commands run with the rights of your user, because no sandbox can be made: ${problem}` };
  } catch (error) {
    return { what, state: "broken", detail: messageOf(error) };
  }
}

async function programFinding(program: string, without: string): Promise<Finding> {
  try {
    return { what: program, state: "ok", detail: await firstLine(program) };
  } catch {
    return { what: program, state: "missing", detail: without };
  }
}

async function firstLine(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ["--version"], { timeout: 10_000 });
  return stdout.split("\n")[0] ?? "";
}

function withoutCredentials(address: string): string {
  // OLLAMA_HOST may be a host alone.
  const url = /^[a-z]+:\/\//i.test(address) ? address : `http://${address}`;
  if (!URL.canParse(url)) return "an address that is no URL";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
