import type { Workspace } from "./keelson-process.ts";

/** The options that make commands run without a sandbox. */
export async function withoutSandbox(workspace: Pick<Workspace, "keelson">): Promise<readonly string[]> {
  const { stdout } = await workspace.keelson("--help");
  return stdout.includes("--no-sandbox") ? ["--no-sandbox"] : [];
}
