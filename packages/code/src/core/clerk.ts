import { createAgent, createRunner, type Runner } from "keelson";
import { createModelRegistry } from "keelson/providers";
import { AGENT_NAME } from "./coding-runner.ts";
import type { World } from "./world.ts";

/** A runner that runs nothing: for the commands that look at sessions, change them, and record decisions. No key is needed. */
export function openClerk(world: World): Runner {
  return createRunner({
    agent: createAgent({ name: AGENT_NAME, model: "none/none" }),
    models: createModelRegistry({ providers: {} }),
    log: world.log,
    blobs: world.blobs,
    approvalKeys: world.keys,
  });
}
