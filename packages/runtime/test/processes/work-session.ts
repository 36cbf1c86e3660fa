// Works a run of session "s" whose model never ends its answers by itself. Prints the text of each as it comes, and how the run ended.
import { writeSync } from "node:fs";
import { type InferEvent, ModelError, type Provider } from "@keelson/protocol";
import { createAgent, createRunner } from "keelson";
import { createSqliteBlobStore, createSqliteEventLog } from "keelson/state";

// As the connection to a model does.
const alive = setInterval(() => {}, 60_000);
const [path = ""] = process.argv.slice(2);
const responses = ["First", "Second", "Third"];
const model: Provider = {
  name: "endless/model",
  wire: "scripted",
  async *stream(_request, options): AsyncGenerator<InferEvent> {
    yield { type: "text-delta", text: `${responses.shift()} so far` };
    await new Promise<void>((resolve) => {
      options?.signal?.addEventListener("abort", () => resolve(), { once: true });
      if (options?.signal?.aborted) resolve();
    });
    throw new ModelError({ kind: "cancelled", message: "cancelled" });
  },
};
await using log = createSqliteEventLog({ path });
await using blobs = createSqliteBlobStore({ path });
const runner = createRunner({ agent: createAgent({ name: "a", model }), log, blobs });
const run = runner.run("go", { session: "s" });
for await (const event of run) if (event.type === "text-delta") writeSync(1, `${event.text}\n`);
const { reason, text } = await run.outcome;
writeSync(1, `${JSON.stringify({ reason, text })}\n`);
clearInterval(alive);
