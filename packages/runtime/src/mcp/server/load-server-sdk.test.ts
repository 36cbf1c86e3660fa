import { McpError } from "@keelson/protocol";
import { expect, it } from "vitest";
import { loadServerSdk, loadStdioSdk } from "./load-server-sdk.ts";

it("says what to install where the SDK is missing", async () => {
  const missing = async (name: string): Promise<never> => {
    throw new Error(`Cannot find package ${name}`);
  };
  for (const load of [loadServerSdk, loadStdioSdk]) {
    const error: unknown = await load(missing).catch((thrown: unknown) => thrown);
    expect(McpError.is(error, "other") && error.message).toMatch(/npm install @modelcontextprotocol\/server$/);
    expect((error as Error).cause).toBeInstanceOf(Error);
  }
});
