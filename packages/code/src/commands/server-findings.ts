import { access, constants } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { KeelsonError, type McpServerConfig } from "@keelson/protocol";
import { expandVariables } from "keelson/mcp";
import { printableLine } from "../text/printable.ts";
import { sourceOf, targetOf } from "../render/server-lines.ts";
import type { FoundServer, FoundServers } from "../servers/find-servers.ts";
import type { Finding } from "./finding.ts";

type Environment = { readonly [name: string]: string | undefined };

/** @param problem - the reason why no server can be connected, if there is one */
export function packagesFinding(problem: string | undefined): Finding {
  return {
    what: "MCP packages",
    state: problem === undefined ? "ok" : "broken",
    detail: problem === undefined ? "they can be loaded" : printableLine(problem),
  };
}

/** Whether the configured servers could be started in this folder. None is. */
export async function serverFindings(
  { servers, problems }: FoundServers,
  { environment, command, folder }: { readonly environment: Environment; readonly command: string; readonly folder: string },
): Promise<readonly Finding[]> {
  const used = servers.filter(({ state }) => state !== "shadowed");
  return [
    ...(await Promise.all(used.map((server) => findingOf(server, { environment, command, folder })))),
    ...problems.map(({ message, isLeftOut }): Finding => ({
      what: "MCP",
      state: isLeftOut ? "broken" : "missing",
      detail: printableLine(message),
    })),
  ];
}

async function findingOf(
  server: FoundServer,
  { environment, command, folder }: { readonly environment: Environment; readonly command: string; readonly folder: string },
): Promise<Finding> {
  const { name, config, state, item } = server;
  const what = `MCP ${printableLine(name)}`;
  const where = `${config.type}, ${printableLine(targetOf(config))}, of ${sourceOf(server)}`;
  if (state === "untrusted")
    return {
      what,
      state: "missing",
      detail: `${where}; nobody trusts it as it is: ${command} trust accept ${printableLine(item?.path ?? "")}`,
    };
  if (state === "disabled") return { what, state: "ok", detail: `${where}; disabled` };
  const problem = await problemOf(config, environment, folder);
  if (problem !== undefined) return { what, state: "broken", detail: `${where}; ${printableLine(problem)}` };
  return { what, state: "ok", detail: `${where}; ${command} mcp test ${printableLine(name)} tries it` };
}

/** Why it can't be started, as far as that is known without trying. */
async function problemOf(config: McpServerConfig, environment: Environment, folder: string): Promise<string | undefined> {
  const expand = (text: string): string => expandVariables(text, environment, "it");
  try {
    for (const text of textsOf(config)) expand(text);
    if (config.type !== "stdio") return undefined;
    const program = expand(config.command);
    const start = resolve(folder, expand(config.cwd ?? "."));
    return (await isProgram(program, start, environment)) ? undefined : `there is no program ${program}`;
  } catch (error) {
    if (error instanceof KeelsonError) return error.message;
    throw error;
  }
}

async function isProgram(program: string, folder: string, environment: Environment): Promise<boolean> {
  const places = program.includes("/")
    ? [resolve(folder, program)]
    : (environment["PATH"] ?? "").split(delimiter).map((place) => join(place, program));
  for (const place of places)
    if (
      await access(place, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return true;
  return false;
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
