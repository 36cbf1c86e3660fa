import { ModelError, type Provider } from "@keelson/protocol";
import { createAgent, createRunner } from "keelson";
import { createModelRegistry } from "keelson/providers";
import { AGENT_NAME } from "./agent-name.ts";
import type { CodingRunner } from "./coding-runner.ts";
import type { Stores } from "./stores.ts";

const NO_MODEL: Provider = {
  name: "none/none",
  wire: "none",
  // oxlint-disable-next-line require-yield -- it never responds
  async *stream() {
    throw new ModelError({ kind: "invalid-request", message: "This runner only keeps sessions; it has no model." });
  },
};

/** A runner that runs nothing: for the commands that look at sessions, change them, and record decisions. No key is needed. */
export function openSessionRunner(stores: Stores): CodingRunner {
  return createRunner({
    agent: createAgent({ name: AGENT_NAME, model: NO_MODEL }),
    models: createModelRegistry({ providers: {} }),
    log: stores.log,
    blobs: stores.blobs,
    approvalKeys: stores.keys,
  });
}
