import type * as Sdk from "@modelcontextprotocol/server";
import type * as Stdio from "@modelcontextprotocol/server/stdio";
import { McpError } from "@keelson/protocol";

export type ServerSdk = typeof Sdk;
export type StdioSdk = typeof Stdio;

// In variables, so that they are loaded where they are installed, and builds don't follow them.
const PACKAGE = "@modelcontextprotocol/server";
const STDIO = `${PACKAGE}/stdio`;

/** The official SDK for servers, which is loaded when something is first served. @throws McpError that says what to install */
export async function loadServerSdk(load: (name: string) => Promise<unknown> = importByName): Promise<ServerSdk> {
  return (await loaded(load, PACKAGE)) as ServerSdk;
}

export async function loadStdioSdk(load: (name: string) => Promise<unknown> = importByName): Promise<StdioSdk> {
  return (await loaded(load, STDIO)) as StdioSdk;
}

async function importByName(name: string): Promise<unknown> {
  return await import(name);
}

async function loaded(load: (name: string) => Promise<unknown>, name: string): Promise<unknown> {
  try {
    return await load(name);
  } catch (cause) {
    const message = `A server of the Model Context Protocol needs the package ${PACKAGE}, which can't be loaded: npm install ${PACKAGE}`;
    throw new McpError({ kind: "other", message }, { cause });
  }
}
