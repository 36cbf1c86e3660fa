import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlobStore, LogError } from "@keelson/protocol";
import { createAgent, createRunner } from "keelson";
import { createMemoryBlobStore, createSqliteEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

describe("an image that is named by its digest", () => {
  it("reaches the model with its bytes, as the same message object at every turn", async () => {
    const blobs = createMemoryBlobStore();
    const blob = await blobs.put(new Uint8Array([137, 80, 78, 71]));
    const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "a picture"]);
    const runner = runnerOf(createAgent({ name: "a", model, tools: [recordingTool("look", { effect: "read" })] }), { blobs });
    await runner.run(
      [
        { type: "text", text: "what is it?" },
        { type: "image", mediaType: "image/png", blob },
      ],
      { session: "s" },
    ).outcome;
    const [first, second] = model.requests;
    expect(first?.messages[0]?.content[1]).toEqual({ type: "image", mediaType: "image/png", data: "iVBORw==" });
    expect(second?.messages[0]).toBe(first?.messages[0]);
    const { messages } = await runner.sessions.get("s");
    expect(messages[0]?.content[1]).toEqual({ type: "image", mediaType: "image/png", blob });
  });

  it("that is not there ends the run with an error that names it", async () => {
    const runner = runnerOf(createAgent({ name: "a", model: scriptedModel(["never"]) }));
    const outcome = await runner.run([{ type: "image", mediaType: "image/png", blob: `sha256:${"0".repeat(64)}` as never }], {
      session: "s",
    }).outcome;
    expect(outcome.reason).toBe("error");
    expect(outcome.error?.failure).toEqual({
      kind: "backend",
      message: `The conversation names an image that is not in the blob store: sha256:${"0".repeat(64)}.`,
    });
    expect((await runner.sessions.get("s")).run?.status).toBe("ended");
  });

  it("in a store that can't be reached only interrupts the run", async () => {
    const services = sharedServices();
    let isAway = true;
    const blobs: BlobStore = {
      ...services.blobs,
      async get(digest) {
        if (isAway) throw new LogError({ kind: "unavailable", message: "away" });
        return services.blobs.get(digest);
      },
    };
    const blob = await blobs.put(new Uint8Array([137, 80, 78, 71]));
    const runner = createRunner({ ...services, blobs, agent: createAgent({ name: "a", model: scriptedModel(["a picture"]) }) });
    const run = runner.run([{ type: "image", mediaType: "image/png", blob }], { session: "s" });
    expect((await run.outcome).error?.message).toContain("away");
    isAway = false;
    expect(await (await runner.resume("s")).outcome).toMatchObject({ reason: "complete", text: "a picture" });
  });
});

describe("a log on disk", () => {
  it("brings its own blob store: what is too large for a record is there when the process is gone", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keelson-blobs-"));
    const open = () => createSqliteEventLog({ path: join(folder, "sessions.db") });
    const agent = createAgent({ name: "a", model: scriptedModel(["x".repeat(300_000)]) });
    const first = open();
    await createRunner({ agent, log: first }).run("go", { session: "s" }).outcome;
    await first[Symbol.asyncDispose]();
    await using second = open();
    const { messages } = await createRunner({ agent, log: second }).sessions.get("s");
    expect(messages[1]?.content).toEqual([{ type: "text", text: "x".repeat(300_000) }]);
    rmSync(folder, { recursive: true });
  });
});
