import type * as Sdk from "@modelcontextprotocol/client";
import { McpError } from "@keelson/protocol";

export type ClientSdk = typeof Sdk;

const PACKAGE = "@modelcontextprotocol/client";

/** The official SDK, which is not installed with this package. */
export async function loadSdk(importModule: (name: string) => Promise<unknown> = importCompiled): Promise<ClientSdk> {
  try {
    return (await importModule(PACKAGE)) as ClientSdk;
  } catch (error) {
    throw new McpError(
      {
        kind: "other",
        message: `Servers of the Model Context Protocol need the package ${PACKAGE}, which can't be loaded. Install it: npm install ${PACKAGE}`,
      },
      { cause: error },
    );
  }
}

/** Returns the reason why no server can be connected, with the remedy, or `undefined` if the SDK can be loaded. */
export async function mcpClientProblem(importModule?: (name: string) => Promise<unknown>): Promise<string | undefined> {
  try {
    await loadSdk(importModule);
    return undefined;
  } catch (error) {
    return (error as McpError).message;
  }
}

/**
 * In a process with the condition `source` (`node --conditions=source`, as workspaces use it) the SDK's readers of event streams give their TypeScript,
 * which Node does not load out of `node_modules`.
 */
async function importCompiled(name: string): Promise<unknown> {
  const hooks = process.getBuiltinModule("node:module").registerHooks({
    resolve: (specifier, context, nextResolve) =>
      /^eventsource(-parser)?(\/|$)/.test(specifier)
        ? nextResolve(specifier, { ...context, conditions: context.conditions.filter((condition) => condition !== "source") })
        : nextResolve(specifier, context),
  });
  try {
    return await import(name);
  } finally {
    hooks.deregister();
  }
}
